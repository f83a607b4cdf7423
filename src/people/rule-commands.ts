import { command, query } from '../../mail/store/engine/types.ts';
import { HAS_SECOND_FACTOR } from './factor-commands.ts';
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

/** Sets who needs a second factor. */
export const setFactorRule = command(
  'set-factor-rule',
  async (tx, input: { organization: number; rule: FactorRule }): Promise<{ kind: 'set' | 'missing' }> => {
    const { changes } = await tx.run(
      'UPDATE organization SET second_factor = ? WHERE id = ?',
      input.rule,
      input.organization,
    );
    return { kind: changes === 1 ? 'set' : 'missing' };
  },
);

/** A member with the state of their second factor. */
export interface MemberFactor {
  role: Role;
  hasFactor: boolean;
}

/** The rule of an organization, and who has a second factor. */
export const factorRuleOf = query(
  'factor-rule',
  async (rx, input: { organization: number }): Promise<{ rule: FactorRule; members: MemberFactor[] } | undefined> => {
    const row = await rx.get<{ rule: FactorRule }>(
      'SELECT second_factor AS rule FROM organization WHERE id = ?',
      input.organization,
    );
    if (row === undefined) return undefined;
    const members = await rx.all<{ role: Role; has: number }>(
      `SELECT m.role, ${HAS_SECOND_FACTOR} AS has FROM member m JOIN user u ON u.id = m.user_id WHERE m.organization_id = ?`,
      input.organization,
    );
    return { rule: row.rule, members: members.map(({ role, has }) => ({ role, hasFactor: has === 1 })) };
  },
);
