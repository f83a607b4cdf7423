import { command, query } from '../../mail/store/engine/types.ts';
import { HAS_SECOND_FACTOR } from './factor-commands.ts';
import type { Role } from './member-commands.ts';

/** People of an organization who must sign in with a second factor. */
export const FACTOR_RULES = ['none', 'owners', 'admins', 'everybody'] as const;

export type FactorRule = (typeof FACTOR_RULES)[number];

/** Sign-ins by the OpenID provider: they do not open the organization, they do, or only they do for all but owners. */
export const PROVIDER_RULES = ['off', 'allowed', 'required'] as const;

export type ProviderRule = (typeof PROVIDER_RULES)[number];

/** True if a session opens an organization. Owners keep their password: a provider that fails locks nobody out. */
export function admitsSignIn(
  { role, providerRule }: { role: Role; providerRule: ProviderRule },
  byProvider: boolean,
): boolean {
  if (byProvider) return providerRule !== 'off';
  return providerRule !== 'required' || role === 'owner';
}

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

/** Sets who needs a second factor, and which sign-ins open the organization. What is left out stays. */
export const setFactorRule = command(
  'set-factor-rule',
  async (
    tx,
    input: { organization: number; rule?: FactorRule | undefined; provider?: ProviderRule | undefined },
  ): Promise<{ kind: 'set' | 'missing' }> => {
    const { changes } = await tx.run(
      `UPDATE organization SET second_factor = coalesce(?, second_factor), single_sign_on = coalesce(?, single_sign_on)
       WHERE id = ?`,
      input.rule ?? null,
      input.provider ?? null,
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
  async (
    rx,
    input: { organization: number },
  ): Promise<{ rule: FactorRule; provider: ProviderRule; members: MemberFactor[] } | undefined> => {
    const row = await rx.get<{ rule: FactorRule; provider: ProviderRule }>(
      'SELECT second_factor AS rule, single_sign_on AS provider FROM organization WHERE id = ?',
      input.organization,
    );
    if (row === undefined) return undefined;
    const members = await rx.all<{ role: Role; has: number }>(
      `SELECT m.role, ${HAS_SECOND_FACTOR} AS has FROM member m JOIN user u ON u.id = m.user_id WHERE m.organization_id = ?`,
      input.organization,
    );
    return { ...row, members: members.map(({ role, has }) => ({ role, hasFactor: has === 1 })) };
  },
);
