import { z } from 'zod';
import type { ReporterCount, SumsInput } from '../../reports/queries.ts';
import { isoOf } from '../../core/schemas.ts';
import type { Call } from '../../core/operation.ts';
import { findOwnDomain } from '../scope.ts';
import { DomainArguments } from '../domains/arguments.ts';

const DAY_MS = 24 * 3_600_000;
export const MAX_REPORTERS = 50;

/** Arguments of the operations that sum reports. */
export const ReportArguments = {
  ...DomainArguments,
  days: z.number().int().min(1).max(366).default(30).describe('Days back from today, UTC'),
};

/** Messages, or sessions, of one day. */
export const DayTotals = z.object({ day: z.string(), total: z.number(), passed: z.number() });

/** Reporters, in their own words. */
export const Reporters = z.array(
  z.object({ organization: z.string(), signedBy: z.string(), reports: z.number(), lastAt: z.string() }),
);

/** A domain that the caller may see, and the days that are asked for. */
export async function rangeOf(
  call: Call,
  { days, ...which }: { days: number; domainId?: string | undefined; domain?: string | undefined },
): Promise<{ name: string; verified: boolean; range: SumsInput }> {
  const { id, name, verified } = await findOwnDomain(call, which);
  const until = Math.floor(call.clock() / DAY_MS);
  return { name, verified, range: { domain: id, since: until - days + 1, until } };
}

/** Day as a date. */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Percentage with one decimal; null for none of none. */
export function percentOf(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((1000 * part) / whole) / 10;
}

/** Reporters of one kind as shown. */
export function shownReporters(all: readonly ReporterCount[], kind: 'dmarc' | 'tls'): z.output<typeof Reporters> {
  return all
    .filter((one) => one.kind === kind)
    .map(({ organization, verified, reports, lastAt }) => ({
      organization,
      signedBy: verified,
      reports,
      lastAt: isoOf(lastAt),
    }));
}
