import { z } from 'zod';
import { lookAt, manage } from '../../domains/look.ts';
import { publicId } from '../../ids.ts';
import { operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { domainOf } from '../scope.ts';
import { lookContext } from './context.ts';
import { DnsRecord, EmailDomain, onboardedDomain } from './shown.ts';
import { Which } from './which.ts';

export const verifyEmailDomain = operation({
  name: 'verify_email_domain',
  title: 'Verify a domain',
  toolset: 'email',
  reach: 'project',
  action: 'manage',
  description:
    'Looks the DNS records of a domain up now. When sending identity (SPF), DKIM and inbound MX pass it becomes verified and mail flows within a second; else every record comes back with what was seen, the wrong ones first.',
  hints: { idempotent: true, openWorld: true },
  input: z.strictObject(Which),
  output: z.object({
    domain: EmailDomain,
    verified: z.boolean(),
    changed: z.boolean(),
    records: z.array(DnsRecord),
    next: z.string(),
  }),
  rest: { method: 'POST', path: '/api/email/domains/:domainId/verify' },
  async run(call, which) {
    const info = await domainOf(call, which);
    const context = lookContext(call, info.name);
    await manage(context, info);
    const { kind, changed } = await lookAt(context, info);
    if (kind === 'missing') return notFound('domain');
    if (kind === 'taken') {
      return refuse(
        'conflict',
        `${info.name} was verified by another organization of this server: it has to remove it first.`,
        {
          resource: 'domain',
        },
      );
    }
    const { domain, records } = await onboardedDomain(
      call,
      await domainOf(call, { domainId: publicId('domain', info.id) }),
    );
    const verified = domain.status === 'verified';
    return { domain, verified, changed, records: records.toSorted((a, b) => rank(a) - rank(b)), next: nextOf(domain) };
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
  if (failing.length === 0) return 'Nothing is left to do: provision_email makes mailboxes.';
  const what = failing.map(([name]) => name).join(', ');
  return `Not right yet: ${what}. Publish the records that are not ok, wait until they are visible, and call verify_email_domain again.`;
}
