import { z } from 'zod';
import type { DomainInfo } from '../../../mail/store/domain.ts';
import { domainSetup } from '../../accounts/setup.ts';
import { type Checks, recordKey } from '../../domains/check.ts';
import type { Looked } from '../../domains/look.ts';
import { countMailboxes, publishedKeys } from '../../domains/queries.ts';
import { ownServer, type WantedRecord, wantedRecords } from '../../domains/records.ts';
import { publicId } from '../../ids.ts';
import type { Call } from '../operation.ts';
import { isoOf, isoOrNull } from '../schemas.ts';

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
  dnsManaged: z.boolean(),
  sendingPaused: z.boolean(),
  failingSince: z.string().nullable(),
  mailboxCount: z.number(),
  createdAt: z.string(),
  verifiedAt: z.string().nullable(),
  lastCheckedAt: z.string().nullable(),
});

export const DnsRecord = z.object({
  purpose: z.enum(['inbound_mx', 'dkim', 'spf', 'dmarc']),
  type: z.enum(['MX', 'TXT', 'CNAME']),
  name: z.string(),
  value: z.string(),
  priority: z.number().optional(),
  ttl: z.number(),
  required: z.boolean(),
  status: z.enum(['ok', 'missing', 'mismatch', 'unknown']),
  observed: z.array(z.string()),
  managed: z.boolean(),
});

const NOT_YET = { status: 'pending' as const, detail: 'not checked yet: call verify_email_domain' };
const UNCHECKED: Checks = {
  sendingIdentity: NOT_YET,
  dkim: NOT_YET,
  inboundMx: NOT_YET,
  spf: NOT_YET,
  dmarc: NOT_YET,
};

export interface Onboard {
  /** Of its row. */
  id: number;
  domain: z.output<typeof EmailDomain>;
  records: z.output<typeof DnsRecord>[];
  /** What the records were made of. */
  wanted: WantedRecord[];
}

/** A domain with its records as they stood at the last look. */
export async function onboardedDomain(call: Call, info: DomainInfo & { project: number }): Promise<Onboard> {
  const [setup, keys, mailboxCount] = await Promise.all([
    call.store.read(domainSetup, { domain: info.id }),
    call.store.read(publishedKeys, { domain: info.id }),
    call.store.read(countMailboxes, { domain: info.id }),
  ]);
  const looked = typeof setup?.checks === 'string' ? (JSON.parse(setup.checks) as Looked) : undefined;
  const managed = setup?.managed ?? false;
  const byName = call.settings.ports.dns !== undefined;
  const wanted = wantedRecords({ ...info, keys }, call.settings.hostname, byName);
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

/** What somebody who publishes records by hand should know. */
export function notesFor(call: Call, { domain, id }: Onboard): string[] {
  const { hostname, ports } = call.settings;
  if (domain.dnsManaged) return ['This server answers for the domain: nothing is left to publish.'];
  if (ports.dns !== undefined) {
    return [
      `The DKIM records are CNAMEs into dkim.${hostname}, so keys change without your doing.`,
      `Or let ${ownServer(id, hostname)} be the name server of ${domain.domain}: then this server publishes everything by itself.`,
      `Where two are wanted, ${hostname} is the second. Alone it does not say whose claim is meant when others claim the domain too.`,
    ];
  }
  return ['The DKIM keys stand in TXT records, as the DNS of this server is off (MAILSTEAD_DNS_PORT).'];
}
