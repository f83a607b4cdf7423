import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import { domainsOf } from '../../../mail/store/domain.ts';
import { onboardDomain } from '../../domains/domains.ts';
import { manage } from '../../domains/look.ts';
import { zoneText } from '../../domains/records.ts';
import { publicId } from '../../ids.ts';
import { type About, noMailbox } from '../about.ts';
import { auditedStore } from '../box/audited-store.ts';
import { type Call, operation } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { Id, Line } from '../schemas.ts';
import { domainOf, projectOf } from '../scope.ts';
import { lookContext } from './context.ts';
import { DnsRecord, EmailDomain, notesFor, onboardedDomain } from './shown.ts';

export const addEmailDomain = operation({
  name: 'add_email_domain',
  title: 'Onboard a domain',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Onboards a domain and makes its DKIM keys; returns the MX, DKIM, SPF and DMARC records to publish, with zone text to paste. When its name servers lead here the records appear by themselves. Repeating it returns the same. Next: verify_email_domain.',
  hints: { idempotent: true, openWorld: true },
  rule: newName,
  // Its name servers are asked for every label of it.
  writesToStrangers: true,
  tellsOutside: (_call, { domain }) => [domain],
  input: z.strictObject({ projectId: Id('project').optional(), domain: Line(1, 253) }),
  output: z.object({
    domain: EmailDomain,
    records: z.array(DnsRecord),
    dnsManaged: z.boolean(),
    copyPaste: z.string(),
    notes: z.array(z.string()),
    next: z.literal('verify_email_domain'),
  }),
  rest: { method: 'POST', path: '/api/email/domains', status: 201 },
  async run(call, { projectId, domain: name }) {
    const project = await projectOf(call, projectId);
    const id = await onboard(call, name, project.id);
    const info = await domainOf(call, { domainId: publicId('domain', id) });
    await manage(lookContext(call, info.name), info);
    const made = await onboardedDomain(call, await domainOf(call, { domainId: publicId('domain', id) }));
    const notes = notesFor(call, made);
    return {
      domain: made.domain,
      records: made.records,
      dnsManaged: made.domain.dnsManaged,
      copyPaste: zoneText(made.wanted, notes),
      notes,
      next: 'verify_email_domain' as const,
    };
  },
});

/** What is there already is asked for again and again: nothing new is told. */
async function newName({ store, tenant }: Call, { domain }: { domain: string }): Promise<About | undefined> {
  const name = parseDomain(domain);
  const all = await store.read(domainsOf, { tenant });
  return all.some((one) => one.name === name) ? undefined : noMailbox();
}

async function onboard(call: Call, name: string, project: number): Promise<number> {
  const context = { ...call, store: auditedStore(call, name) };
  const done = await onboardDomain(context, { tenant: call.tenant, name, verified: false, project });
  switch (done.kind) {
    case 'added':
    case 'exists':
      return done.id;
    case 'bad-name':
      return refuse('invalid_arguments', 'domain: this is no name of a domain that mail can be hosted under.', {
        issues: [{ path: 'domain', message: 'is no domain name' }],
      });
    case 'too-many':
      return refuse(
        'conflict',
        'Too many domains of this organization wait to be verified: verify or remove some of them first.',
        { resource: 'domain' },
      );
    case 'taken':
      // Only said to those who claim without proof; nobody does here.
      throw new Error('an unproved claim met a proved one');
  }
}
