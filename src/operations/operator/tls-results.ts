import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import { dayOf, type PolicyReport, tlsResults } from '../../../mail/store/queue/tls-result.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { Line, DomainName, PageSize, CURSOR, isoOf } from '../../core/schemas.ts';
import { X509Certificate } from 'node:crypto';

const DAY_MS = 24 * 3_600_000;
/** Maximum shown lines of a policy: its owner chooses the number. */
const MAX_LINES = 20;

export const listTlsResults = operation({
  name: 'list_tls_results',
  title: 'List outbound TLS results',
  toolset: 'domains',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  description:
    'For the operator: TLS-RPT counts of outbound connections of one day, for each domain and policy; stored for two weeks. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    day: z.iso.date().describe('UTC; default: today').optional(),
    domain: DomainName.optional(),
    failedOnly: z.boolean().default(false).describe('Only domains with failures'),
    cursor: Line(1, 253).describe(CURSOR).optional(),
    limit: PageSize(25, 25),
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
  const issues = [{ path: 'domain', message: 'is not a domain name' }];
  return refuse('invalid_arguments', 'domain must be a domain name such as example.com.', { issues });
}

function shown({ policy, summary, 'failure-details': details }: PolicyReport) {
  return {
    domain: policy['policy-domain'],
    policy: policy['policy-type'],
    policyText: policy['policy-string'].slice(0, MAX_LINES),
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

export const tlsStatus = operation({
  name: 'get_tls_status',
  title: 'Get the TLS certificate',
  toolset: 'domains',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  description: 'For the operator: names, issuer and expiry of the certificate of all listeners. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({
    hostname: z.string(),
    selfSigned: z.boolean(),
    names: z.string(),
    issuer: z.string(),
    validFrom: z.string(),
    validTo: z.string(),
    daysLeft: z.number(),
    fits: z.boolean(),
    next: z.string(),
  }),
  async run({ certificate, settings, clock }) {
    const { pem, selfSigned } = certificate();
    const read = new X509Certificate(pem);
    const end = read.validToDate.getTime();
    const fits = read.checkHost(settings.hostname) !== undefined;
    return {
      hostname: settings.hostname,
      selfSigned,
      names: read.subjectAltName ?? read.subject,
      issuer: read.issuer,
      validFrom: isoOf(read.validFromDate.getTime()),
      validTo: isoOf(end),
      daysLeft: Math.floor((end - clock()) / 86_400_000),
      fits,
      next: selfSigned
        ? 'Set MAILSTEAD_ACME_EMAIL, or MAILSTEAD_TLS_CERT and MAILSTEAD_TLS_KEY: mail programs warn about a self-signed certificate.'
        : 'Nothing to do: it is renewed automatically, or its files are read again when they change.',
    };
  },
});
