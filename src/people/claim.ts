import { ownerAddress } from '../notices/owners.ts';
import { formatAddress } from '../../mail/message/address.ts';
import type { AppContext } from '../core/app-context.ts';
import {
  type ClaimResult,
  type ClaimedBy,
  claimFacts,
  type ClaimFacts,
  claimOrganization,
  type ClaimRefusal,
} from './claim-commands.ts';
import type { SignInCheck, SignIn } from './sign-in.ts';
import { type PasswordFault, passwordFault } from './password.ts';
import { hashOf } from './secrets.ts';

export interface ClaimRequest {
  token: unknown;
  password: string;
  /** Required for a link that names nobody. */
  email?: string | undefined;
  /** The person signed in in the same browser. */
  visitor?: number | undefined;
  way: 'portal' | 'rest';
  ip: string;
}

export type ClaimLinkOutcome =
  | Extract<ClaimResult, { organization: number }>
  | { kind: 'bad-password'; fault: PasswordFault }
  | { kind: 'bad-email' }
  /** The address has an account, and the password was wrong. */
  | { kind: 'sign-in' }
  | { kind: ClaimRefusal }
  | Exclude<SignInCheck, { kind: 'right' | 'wrong' }>;

/** Previews a claim link; changes nothing. */
export async function previewClaim(
  { store, clock }: AppContext,
  token: unknown,
  email?: string,
): Promise<ClaimFacts | { kind: ClaimRefusal }> {
  const hash = hashOf(token);
  if (hash === undefined) return { kind: 'missing' };
  const key = email === undefined ? null : (ownerAddress(email)?.key ?? null);
  return store.read(claimFacts, { hash, key, now: clock() });
}

/** Claims an organization for its owner, by a first password or by the sign-in of an existing account. */
export async function claim(context: AppContext, signIn: SignIn, request: ClaimRequest): Promise<ClaimLinkOutcome> {
  const hash = hashOf(request.token);
  const facts = await previewClaim(context, request.token, request.email);
  if (hash === undefined) return { kind: 'missing' };
  if (!('organization' in facts)) return facts;
  const by = await claimedBy(signIn, facts, request);
  if (by.kind !== 'new' && by.kind !== 'account') return by;
  const done = await context.store.write(claimOrganization, { hash, by, way: request.way, ip: request.ip });
  return done.kind === 'address-needed' ? { kind: 'bad-email' } : done;
}

async function claimedBy(
  signIn: SignIn,
  facts: ClaimFacts,
  request: ClaimRequest,
): Promise<ClaimedBy | Exclude<ClaimLinkOutcome, { organization: number }>> {
  const email = facts.email ?? request.email ?? '';
  const owner = ownerAddress(email);
  if (owner === undefined) return { kind: 'bad-email' };
  const { account } = facts;
  if (account !== null && account.user === request.visitor)
    return { kind: 'account', user: account.user, password: null };
  if (account !== null) {
    const checked = await signIn.check(email, request.password, request.ip);
    if (checked.kind !== 'right') return checked.kind === 'wrong' ? { kind: 'sign-in' } : checked;
    return { kind: 'account', user: checked.account.user, password: checked.account.password };
  }
  const fault = passwordFault(request.password);
  if (fault !== undefined) return { kind: 'bad-password', fault };
  const password = await signIn.passwords.hash(request.password);
  if (password === undefined) return { kind: 'busy' };
  return { kind: 'new', password, owner: { email: formatAddress(owner.address), key: owner.key } };
}
