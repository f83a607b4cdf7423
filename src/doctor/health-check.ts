/** Result of one check: `warning` works but should change, `unknown` could not be determined, `off` is not set up. */
export const HEALTH_STATUSES = ['ok', 'warning', 'failed', 'unknown', 'off'] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

/** One line of the doctor. */
export interface HealthCheck {
  /** Stable name, for monitoring: `certificate`, `disk`, `example.com: dkim`. */
  name: string;
  status: HealthStatus;
  /** A sentence: what was found. */
  why: string;
  /** Advice; empty if there is nothing to do. */
  fix: string;
  /** Time of the check of a domain, ms UTC; left out: that of the run. */
  checkedAt?: number;
}

export const healthy = (name: string, why: string): HealthCheck => ({ name, status: 'ok', why, fix: '' });

export const unhealthy = (
  name: string,
  status: Exclude<HealthStatus, 'ok'>,
  why: string,
  fix: string,
): HealthCheck => ({
  name,
  status,
  why,
  fix,
});

/** True if nothing has failed. Warnings and unknown results do not count. */
export function isHealthy(checks: readonly HealthCheck[]): boolean {
  return checks.every(({ status }) => status !== 'failed');
}
