import { ownerAddress } from '../notices/owners.ts';
import type { AppContext } from '../core/app-context.ts';
import type { SignInCheck, SignIn } from './sign-in.ts';
import {
  inviteFacts,
  type InviteFacts,
  type InviteRefusal,
  type JoinedBy,
  joinOrganization,
} from './invite-commands.ts';
import { findAccount } from './password-commands.ts';
import { type PasswordFault, passwordFault } from './password.ts';
import { hashOf } from './secrets.ts';

export interface JoinRequest {
  token: unknown;
  password: string;
  displayName: string | null;
  /** The person signed in in the same browser. */
  visitor?: number | undefined;
  ip: string;
}

export type JoinOutcome =
  | { kind: 'joined'; organization: number; user: number }
  | { kind: 'bad-password'; fault: PasswordFault }
  | { kind: 'sign-in' }
  | { kind: InviteRefusal }
  | Exclude<SignInCheck, { kind: 'right' | 'wrong' }>;

export type Invitation = InviteFacts & {
  /** The address as compared. */
  key: string;
  /** Existing account of the address. */
  account: { user: number } | null;
};

/** Previews an invitation; changes nothing. */
export async function previewInvite(
  { store, clock }: AppContext,
  token: unknown,
): Promise<Invitation | { kind: InviteRefusal }> {
  const hash = hashOf(token);
  if (hash === undefined) return { kind: 'missing' };
  const facts = await store.read(inviteFacts, { hash, now: clock() });
  if (facts.kind !== 'invite') return facts;
  const key = ownerAddress(facts.email)?.key ?? '';
  return { ...facts, key, account: (await store.read(findAccount, { key })) ?? null };
}

/** Accepts an invitation, by a first password or by the sign-in of an existing account. */
export async function acceptInvitation(
  context: AppContext,
  signIn: SignIn,
  request: JoinRequest,
): Promise<JoinOutcome> {
  const hash = hashOf(request.token);
  const facts = await previewInvite(context, request.token);
  if (hash === undefined) return { kind: 'missing' };
  if (!('organization' in facts)) return facts;
  const by = await joinedBy(signIn, facts, request);
  if (by.kind !== 'new' && by.kind !== 'account') return by;
  return context.store.write(joinOrganization, { hash, key: facts.key, by, ip: request.ip });
}

async function joinedBy(
  signIn: SignIn,
  facts: Invitation,
  request: JoinRequest,
): Promise<JoinedBy | Exclude<JoinOutcome, { organization: number }>> {
  const { account } = facts;
  if (account !== null && account.user === request.visitor)
    return { kind: 'account', user: account.user, password: null };
  if (account !== null) {
    const checked = await signIn.check(facts.email, request.password, request.ip);
    if (checked.kind !== 'right') return checked.kind === 'wrong' ? { kind: 'sign-in' } : checked;
    return { kind: 'account', user: checked.account.user, password: checked.account.password };
  }
  const fault = passwordFault(request.password);
  if (fault !== undefined) return { kind: 'bad-password', fault };
  const password = await signIn.passwords.hash(request.password);
  return password === undefined ? { kind: 'busy' } : { kind: 'new', password, displayName: request.displayName };
}
