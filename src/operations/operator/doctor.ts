import { z } from 'zod';
import { isoOf } from '../../core/schemas.ts';
import { operation } from '../../core/operation.ts';
import { type HealthCheck, HEALTH_STATUSES, isHealthy } from '../../doctor/health-check.ts';
import { lastHealth } from '../../doctor/health-commands.ts';
import { withoutPassedDomains } from '../../doctor/domain-survey.ts';
import { impactOf } from '../../doctor/impact.ts';
import { runAllChecks } from '../../doctor/run-doctor.ts';

const Check = z.object({
  name: z.string(),
  status: z.enum(HEALTH_STATUSES),
  why: z.string().describe('What was found'),
  impact: z.string().describe('Why it matters'),
  fix: z.string().describe('What to do'),
  checkedAt: z.string().optional().describe('Time of the check of a domain'),
});

export const runDoctor = operation({
  name: 'run_doctor',
  title: 'Check everything',
  toolset: 'deploy',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  untrusted: true,
  description:
    'For the operator: checks the server, its DNS, ports, certificates, blocklists, disk, backups and settings now. Takes up to 30 seconds, and stores the result. Sends no mail.',
  hints: { readOnly: true, idempotent: true, openWorld: true },
  input: z.strictObject({
    peer: z
      .string()
      .regex(/^[\w.:-]{1,253}$/)
      .describe('A mail server of others, to test port 25 outwards')
      .optional(),
  }),
  output: z.object({ ok: z.boolean(), checkedAt: z.string(), checks: z.array(Check) }),
  async run(call, { peer }) {
    const { ok, checkedAt, checks } = await runAllChecks(call, { peer });
    return { ok, checkedAt: isoOf(checkedAt), checks: withoutPassedDomains(checks).map(shown) };
  },
});

export const getHealth = operation({
  name: 'get_health',
  title: 'Get the last checks',
  toolset: 'deploy',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  untrusted: true,
  description:
    'For the operator: the last result of the hourly checks, with the time from which each failed one fails. run_doctor checks anew. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({
    ok: z.boolean().nullable().describe('null: nothing was checked yet'),
    checkedAt: z.string().nullable(),
    checks: z.array(Check.extend({ failedSince: z.string().nullable() })),
  }),
  async run({ store }) {
    const last = await store.read(lastHealth, undefined);
    if (last === undefined) return { ok: null, checkedAt: null, checks: [] };
    const since = (name: string): string | null => {
      const at = last.failedSince.get(name);
      return at === undefined ? null : isoOf(at);
    };
    const checks = withoutPassedDomains(last.checks).map((check) => ({
      ...shown(check),
      failedSince: since(check.name),
    }));
    return { ok: isHealthy(last.checks), checkedAt: isoOf(last.checkedAt), checks };
  },
});

const shown = ({ name, status, why, fix, checkedAt }: HealthCheck) => ({
  name,
  status,
  why,
  impact: impactOf(name),
  fix,
  ...(checkedAt !== undefined && { checkedAt: isoOf(checkedAt) }),
});
