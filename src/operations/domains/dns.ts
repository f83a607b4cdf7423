import { z } from 'zod';
import type { DomainInfo } from '../../../mail/store/domain.ts';
import { addKeys } from '../../domains/commands.ts';
import { makeKeys, SELECTORS } from '../../domains/domains.ts';
import { recordKey } from '../../domains/check.ts';
import { lookAt, manage, nameServersOf, see } from '../../domains/look.ts';
import { type Delegation, publishedKeys } from '../../domains/queries.ts';
import { ownServer, zoneText } from '../../domains/records.ts';
import type { DkimAlgorithm } from '../../../mail/auth/dkim-key.ts';
import { publicId } from '../../ids.ts';
import { type Call, operation } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { Line } from '../schemas.ts';
import { domainOf } from '../scope.ts';
import { lookContext } from './context.ts';
import { DnsRecord, notesFor, onboardedDomain } from './shown.ts';
import { Which } from './which.ts';

export const listDnsRecords = operation({
  name: 'list_dns_records',
  title: 'List the DNS records of a domain',
  toolset: 'dns',
  reach: 'project',
  action: 'read',
  description: 'Lists the records that a domain needs, as they stood at the last look. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(Which),
  output: z.object({ domain: z.string(), managed: z.boolean(), records: z.array(DnsRecord) }),
  async run(call, which) {
    const { domain, records } = await onboardedDomain(call, await domainOf(call, which));
    return { domain: domain.domain, managed: domain.dnsManaged, records };
  },
});

export const exportZone = operation({
  name: 'export_zone',
  title: 'Export the DNS records as zone text',
  toolset: 'dns',
  reach: 'project',
  action: 'read',
  description: 'Returns the records that a domain needs as lines of a zone file, to be pasted. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(Which),
  output: z.object({ domain: z.string(), zone: z.string() }),
  async run(call, which) {
    const made = await onboardedDomain(call, await domainOf(call, which));
    return { domain: made.domain.domain, zone: zoneText(made.wanted, notesFor(call, made)) };
  },
});

export const checkDnsRecord = operation({
  name: 'check_dns_record',
  title: 'Look one DNS record up',
  toolset: 'dns',
  reach: 'project',
  action: 'read',
  untrusted: true,
  description:
    'Looks up one record that a domain needs, by its name and type as list_dns_records gives them, and says what is there now. What is observed was written by others. Changes nothing.',
  hints: { readOnly: true, idempotent: true, openWorld: true },
  input: z.strictObject({
    ...Which,
    name: Line(1, 253),
    type: z.enum(['MX', 'TXT', 'CNAME']).optional(),
  }),
  output: z.object({ record: DnsRecord, nameServers: z.array(z.string()) }),
  async run(call, { name, type, ...which }) {
    const info = await domainOf(call, which);
    const wanted = name.toLowerCase().replace(/\.$/, '');
    const fits = (one: { name: string; type: string }): boolean =>
      one.name === wanted && (type === undefined || one.type === type);
    const { records } = await onboardedDomain(call, info);
    if (!records.some(fits)) {
      refuse('not_found', `${info.name} needs no such record: list_dns_records has those it needs.`, {
        resource: 'record',
      });
    }
    const [{ observed }, now] = await Promise.all([
      nameServersOf(call, { ...info, managed: false }),
      seenNow(call, info),
    ]);
    const record = now.find(fits) ?? records.find(fits);
    if (record === undefined) throw new Error('a record was there and is not');
    return { record, nameServers: observed };
  },
});

async function seenNow(call: Call, info: DomainInfo & { project: number }) {
  const keys = await call.store.read(publishedKeys, { domain: info.id });
  const { records } = await onboardedDomain(call, info);
  const { looked } = await see(call, { ...info, keys });
  return records.map((record) => ({ ...record, ...looked.seen[recordKey(record)] }));
}

export const applyManagedDns = operation({
  name: 'apply_managed_dns',
  title: 'Serve the DNS of a domain from here',
  toolset: 'dns',
  reach: 'project',
  action: 'deploy',
  description:
    'Looks where the name servers of a domain lead; when they lead to this server it begins to answer for the domain with all records, else it says what to set.',
  hints: { idempotent: true, openWorld: true },
  input: z.strictObject(Which),
  output: z.object({
    domain: z.string(),
    managed: z.boolean(),
    nameServers: z.array(z.string()),
    wantedNameServers: z.array(z.string()),
    next: z.string(),
  }),
  async run(call, which) {
    const info = await domainOf(call, which);
    const { hostname, ports } = call.settings;
    if (ports.dns === undefined) {
      refuse('conflict', 'The DNS of this server is off: the operator turns it on with MAILSTEAD_DNS_PORT.');
    }
    const { managed, delegation, observed } = await manage(lookContext(call, info.name), info);
    const own = ownServer(info.id, hostname);
    const next = managed
      ? 'This server answers for the domain: call verify_email_domain.'
      : whatToSet(delegation, info.name, { own, hostname });
    const wantedNameServers = [own, hostname];
    return { domain: info.name, managed, nameServers: observed, wantedNameServers, next };
  },
});

/** What somebody should do whose claim is not served. */
function whatToSet(
  delegation: Delegation | undefined,
  domain: string,
  { own, hostname }: { own: string; hostname: string },
): string {
  const set = `Set the name server of ${domain} to ${own} at its registrar, with ${hostname} as the second one where it wants two; then call this again.`;
  switch (delegation) {
    case undefined:
      return `The DNS did not say where ${domain} leads: call this again in a minute. If it does not lead here yet: ${set}`;
    case 'none':
      return set;
    case 'box':
      return `${hostname} alone does not say whose claim is meant. ${set}`;
    case 'own':
    case 'both':
      return `${domain} was verified by another organization of this server: it has to remove it first.`;
  }
}

export const rotateDkimKeys = operation({
  name: 'rotate_dkim_keys',
  title: 'Replace the DKIM keys of a domain',
  toolset: 'dns',
  reach: 'project',
  action: 'manage',
  description:
    'Makes new DKIM keys under the free selectors. They sign once their records are seen; the old ones stay published for a week. Where the DNS leads here nothing has to be published by hand.',
  hints: { openWorld: true },
  input: z.strictObject(Which),
  output: z.object({
    domain: z.string(),
    selectors: z.array(z.string()),
    records: z.array(DnsRecord),
    next: z.string(),
  }),
  async run(call, which) {
    const info = await domainOf(call, which);
    const keys = await call.store.read(publishedKeys, { domain: info.id });
    const free = Object.entries(SELECTORS).flatMap(([algorithm, pair]) => {
      const selector = pair.find((one) => !keys.some((key) => key.selector === one));
      return selector === undefined ? [] : [{ algorithm: algorithm as DkimAlgorithm, selector }];
    });
    if (free.length === 0) {
      refuse('conflict', 'The keys before these are still published: they go a week after they were replaced.', {
        resource: 'dkim key',
      });
    }
    const made = await makeKeys(call.secrets, info.id, free);
    const target = publicId('domain', info.id);
    const { selectors } = await call.change(addKeys, { domain: info.id, keys: made, sign: 0 }, target, {
      selectors: free.map((one) => one.selector),
    });
    await lookAt(lookContext(call, info.name), info);
    const { records, domain } = await onboardedDomain(call, await domainOf(call, which));
    return {
      domain: info.name,
      selectors,
      records: records.filter((one) => one.purpose === 'dkim'),
      next:
        domain.dnsManaged || call.settings.ports.dns !== undefined
          ? 'Nothing is left to do: the new keys sign once they are seen.'
          : 'Publish the new TXT records; the keys sign once they are seen.',
    };
  },
});
