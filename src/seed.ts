import { parseAddress } from '../mail/message/address.ts';
import { listAccounts, OPERATOR } from '../mail/store/account.ts';
import { listDomains } from '../mail/store/domain.ts';
import type { Settings } from '../config/settings.ts';
import { type AccountContext, provisionAccount } from './accounts/accounts.ts';
import { onboardDomain } from './domains/domains.ts';
import { BOX } from './letters/letter.ts';
import { letterOwners } from './letters/owners.ts';
import { seedOperator } from './organizations/commands.ts';
import { offerOperatorClaim, seedLocalOwner } from './people/operator-commands.ts';
import { newSecret } from './people/secrets.ts';
import { addFirstToken } from './tokens/first-token-commands.ts';
import { ALL_ACTIONS, makeToken, secretHash, shownPart } from './tokens/token.ts';

const LOCAL_ADDRESS = 'me@box.test';

/** What a start has to tell. */
export interface Seeded {
  /** Local mode: the mailbox to try things with; the password only when it was made just now. */
  address?: string;
  password?: string;
  /** Local mode's first start: of the operator's organization. */
  token?: string;
  /** Local mode: what the link to sign in once carries. */
  signIn?: string;
  /** Live mode until somebody has claimed the box: what the claim link carries. */
  claim?: string;
  /** Live mode: it is claimed, and no owner can be told anything by mail. */
  unheard?: boolean;
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
  const { secret, hash } = newSecret();
  const { kind } = await store.write(offerOperatorClaim, { organization: OPERATOR, hash });
  if (kind === 'offered') return { claim: secret };
  const owners = await store.read(letterOwners, { organization: OPERATOR, daily: false });
  return { unheard: owners.length === 0 };
}

async function seedLocal(context: AccountContext, settings: Settings): Promise<Seeded> {
  const mailbox = await localMailbox(context, settings);
  const { secret, hash } = newSecret();
  await context.store.write(seedLocalOwner, { organization: OPERATOR, email: LOCAL_ADDRESS, hash });
  if (mailbox.password === undefined) return { ...mailbox, signIn: secret };
  return { ...mailbox, signIn: secret, token: await firstToken(context, settings) };
}

async function firstToken({ store }: AccountContext, { tokenPrefix }: Settings): Promise<string> {
  const token = makeToken(tokenPrefix);
  await store.write(addFirstToken, { hash: secretHash(token), shown: shownPart(token), actions: [...ALL_ACTIONS] });
  return token;
}

async function localMailbox(context: AccountContext, settings: Settings): Promise<Seeded> {
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
  return { address: made.address, password: made.password };
}
