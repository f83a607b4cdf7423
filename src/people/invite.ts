import { ownerAddress } from '../bootstrap/claim-letter.ts';
import type { World } from '../operations/world.ts';
import type { Checked, PeopleDesk } from './desk.ts';
import {
  inviteFacts,
  type InviteFacts,
  type InviteRefusal,
  type JoinedBy,
  joinOrganization,
} from './invite-commands.ts';
import { findAccount } from './password-commands.ts';
import { passwordProblem } from './password.ts';
import { hashOf } from './secrets.ts';

export interface Join {
  token: unknown;
  password: string;
  displayName: string | null;
  /** Who is signed in already, in the same browser. */
  visitor?: number | undefined;
  ip: string;
}

export type JoinOutcome =
  | { kind: 'joined'; organization: number; user: number }
  | { kind: 'bad-password'; problem: string }
  | { kind: 'sign-in' }
  | { kind: InviteRefusal }
  | Exclude<Checked, { kind: 'right' | 'wrong' }>;

export type Invitation = InviteFacts & {
  /** The form in which the address is compared. */
  key: string;
  /** Who signs in with the address already. */
  account: { user: number } | null;
};

/** What an invitation would do now; changes nothing. */
export async function lookAtInvite(
  { store, clock }: World,
  token: unknown,
): Promise<Invitation | { kind: InviteRefusal }> {
  const hash = hashOf(token);
  if (hash === undefined) return { kind: 'missing' };
  const facts = await store.read(inviteFacts, { hash, now: clock() });
  if (facts.kind !== 'invite') return facts;
  const key = ownerAddress(facts.email)?.key ?? '';
  return { ...facts, key, account: (await store.read(findAccount, { key })) ?? null };
}

/** Accepts an invitation: by a first password, or by the sign-in that the address has already. */
export async function join(world: World, desk: PeopleDesk, asked: Join): Promise<JoinOutcome> {
  const hash = hashOf(asked.token);
  const facts = await lookAtInvite(world, asked.token);
  if (hash === undefined) return { kind: 'missing' };
  if (!('organization' in facts)) return facts;
  const by = await joinedBy(desk, facts, asked);
  if (by.kind !== 'new' && by.kind !== 'account') return by;
  return world.store.write(joinOrganization, { hash, key: facts.key, by, ip: asked.ip });
}

async function joinedBy(
  desk: PeopleDesk,
  facts: Invitation,
  asked: Join,
): Promise<JoinedBy | Exclude<JoinOutcome, { organization: number }>> {
  const { account } = facts;
  if (account !== null && account.user === asked.visitor)
    return { kind: 'account', user: account.user, password: null };
  if (account !== null) {
    const checked = await desk.check(facts.email, asked.password, asked.ip);
    if (checked.kind !== 'right') return checked.kind === 'wrong' ? { kind: 'sign-in' } : checked;
    return { kind: 'account', user: checked.account.user, password: checked.account.password };
  }
  const problem = passwordProblem(asked.password);
  if (problem !== undefined) return { kind: 'bad-password', problem };
  const password = await desk.passwords.hash(asked.password);
  return password === undefined ? { kind: 'busy' } : { kind: 'new', password, displayName: asked.displayName };
}
