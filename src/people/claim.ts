import { formatAddress } from '../../mail/message/address.ts';
import { ownerAddress } from '../bootstrap/claim-letter.ts';
import type { World } from '../operations/world.ts';
import {
  type Claimed,
  type ClaimedBy,
  claimFacts,
  type ClaimFacts,
  claimOrganization,
  type ClaimRefusal,
} from './claim-commands.ts';
import type { Checked, PeopleDesk } from './desk.ts';
import { passwordProblem } from './password.ts';
import { hashOf } from './secrets.ts';

export interface Claim {
  token: unknown;
  password: string;
  /** For a link that names nobody. */
  email?: string | undefined;
  /** Who is signed in already, in the same browser. */
  visitor?: number | undefined;
  way: 'portal' | 'rest';
  ip: string;
}

export type ClaimOutcome =
  | Extract<Claimed, { organization: number }>
  | { kind: 'bad-password'; problem: string }
  | { kind: 'bad-email' }
  /** The address has an account, and this was not its password. */
  | { kind: 'sign-in' }
  | { kind: ClaimRefusal }
  | Exclude<Checked, { kind: 'right' | 'wrong' }>;

/** What a claim link would do now; changes nothing, however often it is asked. */
export async function lookAtClaim(
  { store, clock }: World,
  token: unknown,
  email?: string,
): Promise<ClaimFacts | { kind: ClaimRefusal }> {
  const hash = hashOf(token);
  if (hash === undefined) return { kind: 'missing' };
  const key = email === undefined ? null : (ownerAddress(email)?.key ?? null);
  return store.read(claimFacts, { hash, key, now: clock() });
}

/** Claims an organization for its human owner: by a first password, or by the sign-in that the address has already. */
export async function claim(world: World, desk: PeopleDesk, asked: Claim): Promise<ClaimOutcome> {
  const hash = hashOf(asked.token);
  const facts = await lookAtClaim(world, asked.token, asked.email);
  if (hash === undefined) return { kind: 'missing' };
  if (!('organization' in facts)) return facts;
  const by = await claimedBy(desk, facts, asked);
  if (by.kind !== 'new' && by.kind !== 'account') return by;
  const done = await world.store.write(claimOrganization, { hash, by, way: asked.way, ip: asked.ip });
  return done.kind === 'address-needed' ? { kind: 'bad-email' } : done;
}

async function claimedBy(
  desk: PeopleDesk,
  facts: ClaimFacts,
  asked: Claim,
): Promise<ClaimedBy | Exclude<ClaimOutcome, { organization: number }>> {
  const email = facts.email ?? asked.email ?? '';
  const owner = ownerAddress(email);
  if (owner === undefined) return { kind: 'bad-email' };
  const { account } = facts;
  if (account !== null && account.user === asked.visitor)
    return { kind: 'account', user: account.user, password: null };
  if (account !== null) {
    const checked = await desk.check(email, asked.password, asked.ip);
    if (checked.kind !== 'right') return checked.kind === 'wrong' ? { kind: 'sign-in' } : checked;
    return { kind: 'account', user: checked.account.user, password: checked.account.password };
  }
  const problem = passwordProblem(asked.password);
  if (problem !== undefined) return { kind: 'bad-password', problem };
  const password = await desk.passwords.hash(asked.password);
  if (password === undefined) return { kind: 'busy' };
  return { kind: 'new', password, owner: { email: formatAddress(owner.address), key: owner.key } };
}
