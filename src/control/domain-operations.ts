import { dkimKeys, listDomains } from '../../mail/store/domain.ts';
import { onboardDomain } from '../domains/domains.ts';
import { type ControlContext, operation, refuse, type Refusal } from './operation.ts';

export interface DnsRecord {
  type: 'MX' | 'TXT';
  name: string;
  value: string;
}

export interface AddedDomain {
  id: number;
  domain: string;
  /** False: it was here before. */
  added: boolean;
  /** What the world's DNS must say for the domain's mail to flow. */
  records: DnsRecord[];
}

/** Adds a domain on the operator's word: what the box hosts is for who runs it to say. */
export const addDomain = operation({
  name: 'add_domain',
  input: (fields) => ({ domain: fields.text('domain') }),
  async run(context, { domain }): Promise<AddedDomain | Refusal> {
    const done = await onboardDomain(context, { tenant: context.tenant, name: domain, verified: true });
    switch (done.kind) {
      case 'bad-name':
        return refuse('invalid', `${domain} is not a domain name.`);
      case 'taken':
        return refuse('conflict', `${domain} belongs to another organization.`);
      case 'added':
      case 'exists':
        return {
          id: done.id,
          domain: done.name,
          added: done.kind === 'added',
          records: await recordsOf(context, done.name),
        };
    }
  },
});

async function recordsOf({ store, facts }: ControlContext, domain: string): Promise<DnsRecord[]> {
  const [{ hostname }, keys] = await Promise.all([facts(), store.read(dkimKeys, { name: domain })]);
  return [
    { type: 'MX', name: domain, value: `10 ${hostname}.` },
    { type: 'TXT', name: domain, value: 'v=spf1 mx ~all' },
    ...keys.map((key) => ({ type: 'TXT' as const, name: `${key.selector}._domainkey.${domain}`, value: key.public })),
    { type: 'TXT', name: `_dmarc.${domain}`, value: 'v=DMARC1; p=none' },
  ];
}

export const domains = operation({
  name: 'list_domains',
  input: () => ({}),
  run: async ({ store }) => ({
    domains: (await store.read(listDomains, undefined)).map(({ id, name, verified }) => ({
      id,
      domain: name,
      verified,
    })),
  }),
});
