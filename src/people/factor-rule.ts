import type { Role } from './member-commands.ts';

/** People of an organization who must sign in with a second factor. */
export const FACTOR_RULES = ['none', 'owners', 'admins', 'everybody'] as const;

export type FactorRule = (typeof FACTOR_RULES)[number];

const COVERED: Readonly<Record<FactorRule, readonly Role[]>> = {
  none: [],
  owners: ['owner'],
  admins: ['owner', 'admin'],
  everybody: ['owner', 'admin', 'member'],
};

/** Returns the memberships whose organization requires a second factor of this person. */
export function factorRequiredBy<M extends { role: Role; frozen: boolean; factorRule: FactorRule }>(
  memberships: readonly M[],
): M[] {
  return memberships.filter(({ frozen, role, factorRule }) => !frozen && COVERED[factorRule].includes(role));
}
