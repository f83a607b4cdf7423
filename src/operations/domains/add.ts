import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import { domainsOf } from '../../../mail/store/address/domain.ts';
import { onboardDomain } from '../../domains/domains.ts';
import { updateManaged } from '../../domains/look.ts';
import { zoneText } from '../../domains/records.ts';
import { publicId } from '../../core/ids.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { auditedStore } from '../operator/audited-store.ts';
import { type Call, operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { InProject, DomainName } from '../../core/schemas.ts';
import { findOwnDomain, projectOf } from '../scope.ts';
import { disclosesName, lookContext } from './context.ts';
import { DnsRecord, EmailDomain, notesFor, mailRecords, onboardedDomain } from './shown.ts';
import type { AffectedMailboxes } from '../../core/operation.ts';

export const addEmailDomain = operation({
  name: 'add_email_domain',
  title: 'Add a domain',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Adds a domain and creates its DKIM keys; returns the MX, DKIM, SPF and DMARC records to publish, with zone text to paste. If its name servers point here, the records are served automatically. Idempotent. Next: verify_email_domain.',
  hints: { idempotent: true, openWorld: true },
  rule: newName,
  // Its name servers are queried for every label of it.
  writesToStrangers: 'governed',
  outgoingTexts: (_call, { domain }) => [domain],
  input: z.strictObject({ projectId: InProject, domain: DomainName }),
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
    const info = await findOwnDomain(call, { domainId: publicId('domain', id) });
    // A later check looks the name up.
    if (!(await disclosesName(call, info))) await updateManaged(lookContext(call, info.name), info);
    const made = await onboardedDomain(call, await findOwnDomain(call, { domainId: publicId('domain', id) }));
    const notes = notesFor(call, made);
    return {
      domain: made.domain,
      records: mailRecords(made.records),
      dnsManaged: made.domain.dnsManaged,
      copyPaste: zoneText(mailRecords(made.wanted), notes),
      notes,
      next: 'verify_email_domain' as const,
    };
  },
});

/** Returns an existing domain unchanged: repeated calls disclose nothing new. */
async function newName(
  { store, tenant }: Call,
  { domain }: { domain: string },
): Promise<AffectedMailboxes | undefined> {
  const name = parseDomain(domain);
  const all = await store.read(domainsOf, { tenant });
  return all.some((one) => one.name === name) ? undefined : noMailboxes();
}

async function onboard(call: Call, name: string, project: number): Promise<number> {
  const context = { ...call, store: auditedStore(call, name) };
  const done = await onboardDomain(context, { tenant: call.tenant, name, verified: false, project });
  switch (done.kind) {
    case 'added':
    case 'exists':
      return done.id;
    case 'bad-name':
      return refuse('invalid_arguments', 'domain must be a domain name that can receive mail, such as example.com.', {
        issues: [{ path: 'domain', message: 'is not a domain name' }],
      });
    case 'too-many':
      return refuse('conflict', 'Limit reached: too many unverified domains. Verify or remove some first.', {
        resource: 'domain',
      });
    case 'taken':
      // Only for unverified claims, which are not made here.
      throw new Error('an unproved claim met a proved one');
  }
}
