import { z } from 'zod';
import { domainsOf } from '../../../mail/store/address/domain.ts';
import { domainSetup } from '../../domains/setup.ts';
import { operation } from '../../core/operation.ts';
import { nextCursor, Page, pageOf, OfProject } from '../../core/schemas.ts';
import { findOwnDomain, projectOf } from '../scope.ts';
import { DnsRecord, EmailDomain, onboardedDomain } from './shown.ts';
import { DomainArguments } from './arguments.ts';

export const listEmailDomains = operation({
  name: 'list_email_domains',
  title: 'List domains',
  toolset: 'email',
  core: true,
  reach: 'project',
  action: 'read',
  description: 'Lists domains with the status of each check as of the last lookup. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ projectId: OfProject, ...Page }),
  output: z.object({ domains: z.array(EmailDomain), nextCursor }),
  rest: { method: 'GET', path: '/api/email/domains' },
  async run(call, { projectId, ...page }) {
    const only = projectId === undefined ? call.caller.project : (await projectOf(call, projectId)).id;
    const all = await Promise.all(
      (await call.store.read(domainsOf, { tenant: call.tenant })).map(async (info) => ({
        ...info,
        project: (await call.store.read(domainSetup, { domain: info.id }))?.project ?? 0,
      })),
    );
    const mine = all.filter((one) => only === null || one.project === only);
    const { rows, nextCursor: next } = pageOf(mine, page);
    const shown = await Promise.all(rows.map((info) => onboardedDomain(call, info)));
    return { domains: shown.map((one) => one.domain), nextCursor: next };
  },
});

export const getEmailDomain = operation({
  name: 'get_email_domain',
  title: 'Get a domain',
  toolset: 'email',
  reach: 'project',
  action: 'read',
  description: 'Returns one domain and its DNS records as of the last lookup. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(DomainArguments),
  output: z.object({ domain: EmailDomain, records: z.array(DnsRecord) }),
  rest: { method: 'GET', path: '/api/email/domains/:domainId' },
  async run(call, which) {
    const { domain, records } = await onboardedDomain(call, await findOwnDomain(call, which));
    return { domain, records };
  },
});
