import type { Job } from '../../mail/jobs/scheduler.ts';
import { HEALTH_STATUSES } from './health-check.ts';
import { lastHealth } from './health-commands.ts';
import { type DoctorContext, runAllChecks } from './run-doctor.ts';

const HOUR = 3_600_000;
/** The listeners are open by then, and the first certificate may be there. */
const FIRST_MS = 120_000;

/** Runs all checks every hour. */
export function healthJob(context: DoctorContext): Job {
  return {
    name: 'doctor',
    everyMs: HOUR,
    firstMs: FIRST_MS,
    async run(stop) {
      const { ok, checks } = await runAllChecks(context, { hourly: true, stop });
      const failed = checks.filter(({ status }) => status === 'failed').map(({ name }) => name);
      if (!ok) context.log.warn({ failed }, 'checks of the server failed');
    },
  };
}

/** Gauges of the last stored result. */
export async function readHealthGauges(
  { store, clock }: Pick<DoctorContext, 'store' | 'clock'>,
  gauge: (name: string, value: number, labels?: Readonly<Record<string, string>>) => void,
): Promise<void> {
  const last = await store.read(lastHealth, undefined);
  if (last === undefined) return;
  for (const status of HEALTH_STATUSES)
    gauge('health_checks', last.checks.filter((check) => check.status === status).length, { status });
  gauge('health_age_seconds', (clock() - last.checkedAt) / 1000);
}
