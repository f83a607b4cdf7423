import { z } from 'zod';
import type { DomainInfo } from '../../../mail/store/address/domain.ts';
import { domainSetup } from '../../domains/setup.ts';
import { type RecordChecks, recordKey } from '../../domains/check.ts';
import type { DnsSnapshot } from '../../domains/look.ts';
import { countMailboxes, publishedKeys } from '../../domains/queries.ts';
import { ownServer, recordServer, type RequiredRecord, requiredRecords } from '../../domains/records.ts';
import { STS_MODES } from '../../domains/sts-commands.ts';
import { dsTextOf } from '../../domains/zone-keys.ts';
import { ownStsPolicy } from '../../domains/sts-queries.ts';
import { ownDmarcPolicy } from '../../reports/policy-queries.ts';
import { publicId } from '../../core/ids.ts';
import type { Call } from '../../core/operation.ts';
import { isoOf, isoOrNull } from '../../core/schemas.ts';

const Check = z.object({
  status: z.enum(['pass', 'fail', 'pending']),
  detail: z.string().optional(),
  observed: z.array(z.string()).optional(),
});

export const EmailDomain = z.object({
  id: z.string(),
  domain: z.string(),
  projectId: z.string(),
  status: z.enum(['unverified', 'verified']),
  checks: z.object({ sendingIdentity: Check, dkim: Check, inboundMx: Check, spf: Check, dmarc: Check }),
  mtaSts: z.enum(STS_MODES).nullable().describe('Null: no policy'),
  dnsManaged: z.boolean(),
  sendingPaused: z.boolean(),
  failingSince: z.string().nullable(),
  mailboxCount: z.number(),
  createdAt: z.string(),
  verifiedAt: z.string().nullable(),
  lastCheckedAt: z.string().nullable(),
});

export const DnsRecord = z.object({
  purpose: z.enum(['inbound_mx', 'dkim', 'spf', 'dmarc', 'mta_sts', 'tls_reports', 'client_setup']),
  type: z.enum(['MX', 'TXT', 'CNAME', 'SRV']),
  name: z.string(),
  value: z.string(),
  priority: z.number().optional(),
  ttl: z.number(),
  required: z.boolean(),
  status: z.enum(['ok', 'missing', 'mismatch', 'unknown']),
  observed: z.array(z.string()),
  why: z.string().optional().describe('Reason why it is not right, where the values do not show it'),
  managed: z.boolean(),
});

const NOT_YET = { status: 'pending' as const, detail: 'not checked yet: call verify_email_domain' };
const UNCHECKED: RecordChecks = {
  sendingIdentity: NOT_YET,
  dkim: NOT_YET,
  inboundMx: NOT_YET,
  spf: NOT_YET,
  dmarc: NOT_YET,
};

export interface Onboard {
  /** Facts from its row. */
  id: number;
  domain: z.output<typeof EmailDomain>;
  records: z.output<typeof DnsRecord>[];
  /** Values that the records are built from. */
  wanted: RequiredRecord[];
}

/** Records that mail itself needs; those for mail programs and for reports are in list_dns_records too. */
export function mailRecords<R extends Pick<RequiredRecord, 'purpose'>>(records: readonly R[]): R[] {
  return records.filter(({ purpose }) => purpose !== 'client_setup' && purpose !== 'tls_reports');
}

/** Returns a domain with its records as of the last lookup. */
export async function onboardedDomain(call: Call, info: DomainInfo & { project: number }): Promise<Onboard> {
  const [setup, keys, sts, dmarc, mailboxCount] = await Promise.all([
    call.store.read(domainSetup, { domain: info.id }),
    call.store.read(publishedKeys, { domain: info.id }),
    call.store.read(ownStsPolicy, { domain: info.id }),
    call.store.read(ownDmarcPolicy, { domain: info.id }),
    call.store.read(countMailboxes, { domain: info.id }),
  ]);
  const looked = typeof setup?.checks === 'string' ? (JSON.parse(setup.checks) as DnsSnapshot) : undefined;
  const managed = setup?.managed ?? false;
  const wanted = requiredRecords({ ...info, keys, sts, dmarc }, recordServer(call.settings));
  return {
    id: info.id,
    wanted,
    records: wanted.map(({ selector: _selector, ...record }) => ({
      ...record,
      ...(looked?.seen[recordKey(record)] ?? { status: 'unknown' as const, observed: [] }),
      managed,
    })),
    domain: {
      id: publicId('domain', info.id),
      domain: info.name,
      projectId: publicId('project', info.project),
      status: info.verified ? 'verified' : 'unverified',
      checks: looked?.checks ?? UNCHECKED,
      mtaSts: sts?.mode ?? null,
      dnsManaged: managed,
      sendingPaused: info.pausedAt !== null,
      failingSince: isoOrNull(setup?.failingSince ?? null),
      mailboxCount,
      createdAt: isoOf(info.createdAt),
      verifiedAt: isoOrNull(info.verifiedAt),
      lastCheckedAt: isoOrNull(setup?.lastCheckedAt ?? null),
    },
  };
}

/** Returns advice for publishing the records by hand. */
export function notesFor(call: Call, { domain, id }: Onboard): string[] {
  const { hostname, ports } = call.settings;
  if (domain.dnsManaged) {
    return [
      'This server answers for the domain: nothing to publish.',
      'For DNSSEC, publish this record at the registrar. Remove it there two days before you leave this server:',
      `${domain.domain}. IN DS ${dsTextOf(call.secrets, domain.domain)}`,
    ];
  }
  if (ports.dns !== undefined) {
    return [
      `The DKIM records are CNAMEs into dkim.${hostname}, so keys can be rotated without you.`,
      `Or make ${ownServer(id, hostname)} the name server of ${domain.domain}: then this server publishes all records.`,
      `If two are required, use ${hostname} as the second. Alone it does not identify the organization if others claim the domain too.`,
    ];
  }
  return ["The DKIM keys are in TXT records because this server's DNS is off (MAILSTEAD_DNS_PORT)."];
}
