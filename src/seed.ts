import { randomBytes } from 'node:crypto';
import { addressKey, parseAddress } from '../mail/message/address.ts';
import { listAccounts, OPERATOR } from '../mail/store/account.ts';
import { listDomains } from '../mail/store/domain.ts';
import type { Settings } from '../config/settings.ts';
import { type AccountContext, provisionAccount } from './accounts/accounts.ts';
import { onboardDomain } from './domains/domains.ts';
import { BOX } from './letters/letter.ts';
import { seedOperator } from './organizations/commands.ts';
import { renewOperatorClaim, welcomeOperator } from './people/sign-in-commands.ts';
import { ALL_ACTIONS, makeToken, secretHash, shownPart } from './tokens/token.ts';

const LOCAL_ADDRESS = 'me@box.test';
const LINK_BYTES = 24;

/** What a start has to tell; secrets only when they were made just now. */
export interface Seeded {
  /** Local mode: the mailbox to try things with. */
  address?: string;
  password?: string;
  /** Local mode's first start: of the operator's organization, and what the link to sign in once carries. */
  token?: string;
  signIn?: string;
  /** Live mode until the box is claimed: what the claim link carries. */
  claim?: string;
}

/**
 * What a box has from its first start on. Every step can be done again, so a start that was cut short is completed by
 * the next one.
 */
export async function seed(context: AccountContext, settings: Settings): Promise<Seeded> {
  const { id } = await context.store.write(seedOperator, { name: settings.live ? settings.hostname : 'Local' });
  if (id !== OPERATOR) throw new Error("the operator's organization is not the first one of this database");
  const domains = await context.store.read(listDomains, undefined);
  // The box itself sends bounces and notices as mailstead@HOSTNAME, signed with keys of its own.
  if (settings.live && !domains.some((domain) => domain.name === settings.hostname)) {
    await onboardDomain(context, { tenant: BOX, name: settings.hostname, verified: true });
  }
  return settings.live ? seedLive(context) : seedLocal(context, settings);
}

async function seedLive({ store }: AccountContext): Promise<Seeded> {
  const claim = newSecret();
  const done = await store.write(renewOperatorClaim, { hash: claim.hash });
  return done.kind === 'renewed' ? { claim: claim.secret } : {};
}

async function seedLocal(context: AccountContext, settings: Settings): Promise<Seeded> {
  const accounts = await context.store.read(listAccounts, undefined);
  if (accounts.some((account) => account.address === LOCAL_ADDRESS)) return { address: LOCAL_ADDRESS };
  const address = parseAddress(LOCAL_ADDRESS);
  const domain = await onboardDomain(context, { tenant: OPERATOR, name: 'box.test', verified: true });
  if (address === undefined || !('id' in domain)) throw new Error('the domain box.test cannot be made');
  const password = settings.localPassword;
  const made = await provisionAccount(context, {
    tenant: OPERATOR,
    domainId: domain.id,
    address,
    ...(password !== undefined && { password }),
  });
  if (made.kind !== 'added') throw new Error(`the mailbox ${LOCAL_ADDRESS} cannot be made: ${made.kind}`);
  const owner = { email: made.address, key: addressKey(address) };
  return { address: made.address, password: made.password, ...(await welcome(context, settings, owner)) };
}

async function welcome(
  { store }: AccountContext,
  { tokenPrefix }: Settings,
  owner: { email: string; key: string },
): Promise<Required<Pick<Seeded, 'token' | 'signIn'>>> {
  const [token, link] = [makeToken(tokenPrefix), newSecret()];
  const row = { hash: secretHash(token), shown: shownPart(token), actions: [...ALL_ACTIONS] };
  await store.write(welcomeOperator, { owner, link: link.hash, token: row });
  return { token, signIn: link.secret };
}

/** What the URL of a link carries; stored as its hash only. */
function newSecret(): { secret: string; hash: Buffer } {
  const secret = randomBytes(LINK_BYTES).toString('hex');
  return { secret, hash: secretHash(secret) };
}
