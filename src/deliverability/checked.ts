import type { RecordCheck } from '../domains/check.ts';

/**
 * Result of a check. `unknown`: it could not be determined, and does not count; `none`: not set up, harmless, and does not
 * count either.
 */
export const STATUSES = ['pass', 'fail', 'unknown', 'none'] as const;
export type Status = (typeof STATUSES)[number];

export interface DeliverabilityCheck {
  status: Status;
  /** A sentence of ours; DNS text of others is quoted in it on one line. */
  detail: string;
  /** Advice, without text of others. */
  fix?: string;
}

export const pass = (detail: string): DeliverabilityCheck => ({ status: 'pass', detail });
export const fail = (detail: string, fix: string): DeliverabilityCheck => ({ status: 'fail', detail, fix });
export const unknown = (detail: string): DeliverabilityCheck => ({ status: 'unknown', detail });

/** Converts the check of a domain's records, with advice for a failure. */
export function checkedBy({ status, detail = '' }: RecordCheck, fix: string): DeliverabilityCheck {
  if (status === 'pending') return unknown(detail);
  return status === 'pass' ? pass(detail) : fail(detail, fix);
}

/** Worst result of several addresses: fail, then unknown. */
export function worstOf(all: readonly DeliverabilityCheck[]): DeliverabilityCheck {
  const found = (['fail', 'unknown'] as const).map((status) => all.find((one) => one.status === status));
  return found.find((one) => one !== undefined) ?? all[0] ?? unknown('nothing was checked');
}
