import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import { dayOf, type PolicyReport, tlsResults } from '../../../mail/store/tls-result.ts';
import { operation } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { Line } from '../schemas.ts';

const DAY_MS = 24 * 3_600_000;
/** Lines of a policy that are shown: its owner writes as many as it likes. */
const MOST_LINES = 20;

export const listTlsResults = operation({
  name: 'list_tls_results',
  title: 'How TLS went with the servers of others',
  toolset: 'domains',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  description:
    'For the operator: what was counted of each connection that mail left by, for each domain and policy, of one day (UTC, today by default, kept for two weeks), in the words of TLS-RPT. failedOnly leaves out the domains where nothing failed.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    day: z.iso.date().optional(),
    domain: Line(1, 253).optional(),
    failedOnly: z.boolean().default(false),
    cursor: Line(1, 253).optional(),
    limit: z.number().int().min(1).max(25).default(25),
  }),
  output: z.object({
    day: z.string(),
    results: z.array(
      z.object({
        domain: z.string(),
        policy: z.enum(['tlsa', 'sts', 'no-policy-found']),
        policyText: z.array(z.string()),
        succeeded: z.number(),
        failed: z.number(),
        failures: z.array(
          z.object({
            why: z.string(),
            mx: z.string().nullable(),
            ip: z.string().nullable(),
            from: z.string().nullable(),
            connections: z.number(),
          }),
        ),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
  async run({ store, clock }, { day, domain, failedOnly: failed, cursor: after = '', limit }) {
    const at = day === undefined ? dayOf(clock()) : dayOf(Date.parse(day));
    const only = domain === undefined ? undefined : (parseDomain(domain) ?? noDomain());
    const reports = await store.read(tlsResults, { day: at, after, limit, domain: only, failed });
    const last = reports.at(-1)?.policy['policy-domain'] ?? null;
    const domains = new Set(reports.map((one) => one.policy['policy-domain']));
    return {
      day: new Date(at * DAY_MS).toISOString().slice(0, 10),
      results: reports.map(shown),
      nextCursor: domains.size < limit ? null : last,
    };
  },
});

function noDomain(): never {
  const issues = [{ path: 'domain', message: 'is no domain name' }];
  return refuse('invalid_arguments', 'domain is no domain name such as example.com.', { issues });
}

function shown({ policy, summary, 'failure-details': details }: PolicyReport) {
  return {
    domain: policy['policy-domain'],
    policy: policy['policy-type'],
    policyText: policy['policy-string'].slice(0, MOST_LINES),
    succeeded: summary['total-successful-session-count'],
    failed: summary['total-failure-session-count'],
    failures: details.map((one) => ({
      why: one['result-type'],
      mx: one['receiving-mx-hostname'] ?? null,
      ip: one['receiving-ip'] ?? null,
      from: one['sending-mta-ip'] ?? null,
      connections: one['failed-session-count'],
    })),
  };
}
