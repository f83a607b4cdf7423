import type { Operation } from '../../core/operation.ts';
import { addEmailDomain } from './add.ts';
import { applyManagedDns, checkDnsRecord, exportZone, listDnsRecords, rotateDkimKeys } from './dns.ts';
import { setDmarcPolicyOf } from './dmarc-policy.ts';
import { getEmailDomain, listEmailDomains } from './list.ts';
import { setMtaSts } from './mta-sts.ts';
import { removeEmailDomain } from './remove.ts';
import { verifyEmailDomain } from './verify.ts';

export const DOMAINS: readonly Operation[] = [
  addEmailDomain,
  verifyEmailDomain,
  listEmailDomains,
  getEmailDomain,
  removeEmailDomain,
  listDnsRecords,
  checkDnsRecord,
  exportZone,
  applyManagedDns,
  rotateDkimKeys,
  setMtaSts,
  setDmarcPolicyOf,
];
