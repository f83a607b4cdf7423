import { z } from 'zod';
import { OPERATOR } from '../../../mail/store/account/account.ts';
import { dkimKeys, listDomains } from '../../../mail/store/address/domain.ts';
import { onboardDomain } from '../../domains/domains.ts';
import { type Call, operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { auditedStore } from './audited-store.ts';

export const addBoxDomain = operation({
  name: 'add_domain',
  title: 'Add a domain without DNS verification',
  toolset: 'domains',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  description: 'Adds a domain as verified, without checking its DNS; returns the records to publish.',
  hints: { idempotent: true },
  input: z.strictObject({ domain: z.string().min(1).max(253).describe('Domain name') }),
  output: z.object({
    id: z.number(),
    domain: z.string(),
    added: z.boolean(),
    records: z.array(z.object({ type: z.string(), name: z.string(), value: z.string() })),
  }),
  async run(call, { domain }) {
    const context = { ...call, store: auditedStore(call, domain) };
    const done = await onboardDomain(context, { tenant: OPERATOR, name: domain, verified: true });
    switch (done.kind) {
      case 'bad-name':
        return refuse('invalid_arguments', `${domain} is not a valid domain name.`);
      case 'taken':
        return refuse('conflict', `${domain} belongs to another organization.`);
      case 'too-many':
        return refuse('conflict', 'Limit reached: too many unverified domains. Verify or remove some first.');
      case 'added':
      case 'exists':
        call.keys.evict(done.name);
        return {
          id: done.id,
          domain: done.name,
          added: done.kind === 'added',
          records: await recordsOf(call, done.name),
        };
    }
  },
});

async function recordsOf({ store, settings }: Call, domain: string) {
  const keys = await store.read(dkimKeys, { name: domain });
  return [
    { type: 'MX', name: domain, value: `10 ${settings.hostname}.` },
    { type: 'TXT', name: domain, value: 'v=spf1 mx ~all' },
    ...keys.map((key) => ({ type: 'TXT', name: `${key.selector}._domainkey.${domain}`, value: key.public })),
    { type: 'TXT', name: `_dmarc.${domain}`, value: 'v=DMARC1; p=none' },
  ];
}

export const boxDomains = operation({
  name: 'list_domains',
  title: 'List all domains',
  toolset: 'domains',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Lists the domains of all organizations. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({
    domains: z.array(z.object({ id: z.number(), domain: z.string(), verified: z.boolean() })),
  }),
  run: async ({ store }) => ({
    domains: (await store.read(listDomains, undefined)).map(({ id, name, verified }) => ({
      id,
      domain: name,
      verified,
    })),
  }),
});
