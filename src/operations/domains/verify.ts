import { z } from 'zod';
import { checkDomain, updateManaged } from '../../domains/look.ts';
import { publicId } from '../../core/ids.ts';
import { operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { findOwnDomain } from '../scope.ts';
import { limitLookup, lookContext } from './context.ts';
import { DnsRecord, EmailDomain, mailRecords, onboardedDomain } from './shown.ts';
import { DomainArguments } from './arguments.ts';

export const verifyEmailDomain = operation({
  name: 'verify_email_domain',
  title: 'Verify a domain',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Queries the DNS records of a domain now. When sending identity (SPF), DKIM and inbound MX pass, the domain becomes verified and mail flows within a second; otherwise returns every record with the observed value, failing ones first.',
  hints: { idempotent: true, openWorld: true },
  input: z.strictObject(DomainArguments),
  output: z.object({
    domain: EmailDomain,
    verified: z.boolean(),
    changed: z.boolean(),
    records: z.array(DnsRecord),
    next: z.string(),
  }),
  rest: { method: 'POST', path: '/api/email/domains/:domainId/verify' },
  async run(call, which) {
    const info = await findOwnDomain(call, which);
    await limitLookup(call, info);
    const context = lookContext(call, info.name);
    await updateManaged(context, info);
    const { kind, changed } = await checkDomain(context, info);
    if (kind === 'missing') return notFound('domain');
    if (kind === 'taken') {
      return refuse(
        'conflict',
        `Another organization of this server has verified ${info.name}: it must remove the domain first.`,
        {
          resource: 'domain',
        },
      );
    }
    const { domain, records } = await onboardedDomain(
      call,
      await findOwnDomain(call, { domainId: publicId('domain', info.id) }),
    );
    const verified = domain.status === 'verified';
    return {
      domain,
      verified,
      changed,
      records: mailRecords(records).toSorted((a, b) => rank(a) - rank(b)),
      next: nextOf(domain),
    };
  },
});

function rank({ status, required }: { status: string; required: boolean }): number {
  return (status === 'ok' ? 2 : 0) + (required ? 0 : 1);
}

function nextOf(domain: z.output<typeof EmailDomain>): string {
  const failing = Object.entries({
    'sending identity (SPF)': domain.checks.sendingIdentity,
    DKIM: domain.checks.dkim,
    'inbound MX': domain.checks.inboundMx,
  }).filter(([, check]) => check.status !== 'pass');
  if (failing.length === 0) return 'Next: create mailboxes with provision_email.';
  const what = failing.map(([name]) => name).join(', ');
  return `Not verified yet: ${what}. Publish the records that are not ok, wait until they are visible, and call verify_email_domain again.`;
}
