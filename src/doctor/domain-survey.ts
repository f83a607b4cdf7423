import type { HealthCheck } from './health-check.ts';

/** Domains that are checked at the same time: each needs some 20 lookups. */
const MAX_AT_ONCE = 8;

export interface DomainSurveyInput {
  /** Names of all domains of which the DNS is checked. */
  domains: readonly string[];
  /** Lines of earlier runs, with the times of their checks. */
  previous: readonly HealthCheck[];
  /** Checks one domain. Rejects never. */
  check: (domain: string) => Promise<HealthCheck[]>;
  /** ms UTC. */
  clock: () => number;
  /** Time in which checks of further domains begin, ms. */
  forMs: number;
  /** Checks domains with a failed check before all others: somebody may just have corrected them. */
  failedFirst: boolean;
  stop?: AbortSignal | undefined;
}

export interface DomainSurvey {
  /** Lines of all domains: new ones, and the last ones of domains that were not checked now. */
  lines: HealthCheck[];
  total: number;
  /** Domains that were checked now. */
  checked: number;
  /** Domains without any result yet. */
  never: number;
}

/**
 * Checks the DNS of domains, several at once, those first whose last check is the oldest. What the time does not suffice for is
 * first in the next run, so that every domain gets its turn; until then it keeps its last lines.
 */
export async function surveyDomains(input: DomainSurveyInput): Promise<DomainSurvey> {
  const { check, clock, forMs, stop } = input;
  const previous = linesByDomain(input.previous);
  const names = [...new Set(input.domains)];
  const queue = inOrder(names, previous, input.failedFirst).values();
  const found = new Map<string, HealthCheck[]>();
  const end = performance.now() + forMs;
  const lane = async (): Promise<void> => {
    // The lanes share one iterator. The first domains are checked however short the time is.
    for (const name of queue) {
      const checkedAt = clock();
      const lines = await check(name);
      found.set(
        name,
        lines.map((line) => ({ ...line, checkedAt })),
      );
      if (stop?.aborted === true || performance.now() >= end) return;
    }
  };
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, lane));
  const lines = names.map((name) => found.get(name) ?? previous.get(name) ?? []);
  return {
    lines: lines.flat(),
    total: names.length,
    checked: found.size,
    never: lines.filter((one) => one.length === 0).length,
  };
}

/** Lines that have a time of their own, by the domain before the colon. */
function linesByDomain(checks: readonly HealthCheck[]): Map<string, HealthCheck[]> {
  const dated = checks.filter(({ checkedAt }) => checkedAt !== undefined);
  return Map.groupBy(dated, ({ name }) => name.slice(0, name.indexOf(': ')));
}

function inOrder(
  names: readonly string[],
  previous: ReadonlyMap<string, readonly HealthCheck[]>,
  failedFirst: boolean,
): string[] {
  const key = (name: string): number => {
    const lines = previous.get(name) ?? [];
    const hasFailed = failedFirst && lines.some(({ status }) => status === 'failed');
    return hasFailed ? -1 : (lines[0]?.checkedAt ?? 0);
  };
  return names
    .map((name) => [name, key(name)] as const)
    .toSorted((a, b) => a[1] - b[1])
    .map(([name]) => name);
}

const HOUR = 3_600_000;
/** Names in one line. */
const MAX_NAMES = 20;

/** Says how many domains were checked, and when the others are due. `hourlyMs`: time of the hourly run. */
export function surveyCheck(
  { total, checked, never }: DomainSurvey,
  { now, forMs, hourlyMs }: { now: number; forMs: number; hourlyMs: number },
): HealthCheck {
  const name = 'domains';
  if (total === 0) return { name, status: 'ok', why: 'No domain is verified yet.', fix: '' };
  const rest = total - checked;
  if (rest === 0) {
    const why = total === 1 ? 'The DNS of 1 domain was checked.' : `The DNS of all ${total} domains was checked.`;
    return { name, status: 'ok', why, fix: '' };
  }
  // Estimates the domains of an hourly run by the speed of this one.
  const hours = Math.ceil(rest / Math.max(1, checked * (hourlyMs / Math.max(1, forMs))));
  const due = new Date(now + hours * HOUR).toISOString();
  const why = `The DNS of ${checked} of ${total} domains was checked now. ${rest} ${rest === 1 ? 'is' : 'are'} due by ${due}, those with the oldest check first`;
  if (never === 0) return { name, status: 'ok', why: `${why}; until then they keep their last result.`, fix: '' };
  const fix = 'Wait for the next hourly run, or run the doctor again: it goes on with the others.';
  return { name, status: 'unknown', why: `${why}; ${never} had no check yet.`, fix };
}

/** Lines of domains that are not verified. Everybody with an account may add some: few get a line of their own. */
export function unverifiedChecks(domains: readonly string[]): HealthCheck[] {
  const names = [...new Set(domains)];
  const fix = 'Publish its DNS records (page of the domain), or delete it.';
  const lines = names.slice(0, MAX_NAMES).map((domain): HealthCheck => ({
    name: `${domain}: verification`,
    status: 'warning',
    why: `${domain} is not verified: it neither receives nor sends mail.`,
    fix,
  }));
  const more = names.length - lines.length;
  if (more <= 0) return lines;
  const why = `${more} more ${more === 1 ? 'domain is' : 'domains are'} not verified.`;
  return [
    ...lines,
    { name: 'verification', status: 'warning', why, fix: 'Run "mailstead domain list", which has them all.' },
  ];
}

/** Domains up to which each check that passes is shown. */
const MAX_DETAILED = 20;

/** Leaves out checks of domains that passed, where there are many domains. */
export function withoutPassedDomains(checks: readonly HealthCheck[]): HealthCheck[] {
  const isOfDomain = ({ checkedAt }: HealthCheck): boolean => checkedAt !== undefined;
  if (linesByDomain(checks).size <= MAX_DETAILED) return [...checks];
  return checks.filter((check) => check.status !== 'ok' || !isOfDomain(check));
}
