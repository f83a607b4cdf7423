import type { Check } from '../domains/check.ts';

/**
 * How one thing stands that receivers look at. `unknown`: it could not be found out, and does not count; `none`: it is not
 * set up, nobody is worse off for it, and it does not count either.
 */
export const STATUSES = ['pass', 'fail', 'unknown', 'none'] as const;
export type Status = (typeof STATUSES)[number];

export interface Checked {
  status: Status;
  /** A sentence of ours; what stands in the DNS of others is quoted in it on one line. */
  detail: string;
  /** What to do, with nothing that others wrote. */
  fix?: string;
}

export const pass = (detail: string): Checked => ({ status: 'pass', detail });
export const fail = (detail: string, fix: string): Checked => ({ status: 'fail', detail, fix });
export const unknown = (detail: string): Checked => ({ status: 'unknown', detail });

/** A check of the records of a domain, with what to do where it fails. */
export function checkedBy({ status, detail = '' }: Check, fix: string): Checked {
  if (status === 'pending') return unknown(detail);
  return status === 'pass' ? pass(detail) : fail(detail, fix);
}

/** What several addresses come to together: one that is wrong spoils it, one that is unknown leaves it open. */
export function worstOf(all: readonly Checked[]): Checked {
  const found = (['fail', 'unknown'] as const).map((status) => all.find((one) => one.status === status));
  return found.find((one) => one !== undefined) ?? all[0] ?? unknown('nothing was asked');
}
