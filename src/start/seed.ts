import { parseAddress } from '../../mail/message/address.ts';
import { listAccounts, OPERATOR } from '../../mail/store/account/account.ts';
import { listDomains } from '../../mail/store/address/domain.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import { getSetting, setSetting } from '../../mail/store/setting.ts';
import type { Settings } from '../../config/settings.ts';
import { type AccountContext, changeMailboxPassword, provisionAccount } from '../mailboxes/provision.ts';
import { onboardDomain } from '../domains/domains.ts';
import { BOX } from '../notices/compose.ts';
import { notifiedOwners } from '../notices/owners.ts';
import { seedOperator } from '../organizations/commands.ts';
import { offerOperatorClaim, seedLocalOwner } from '../people/commands.ts';
import { newSecret } from '../people/secrets.ts';
import { addFirstToken } from '../tokens/first-token-commands.ts';
import { ALL_ACTIONS, makeToken, secretHash, shownPart } from '../core/token.ts';

const LOCAL_ADDRESS = 'me@box.test';
/** Set before the first password is created. Missing in databases of earlier versions, which showed theirs. */
const FIRST_START = 'first-start';
const FIRST_START_SHOWN = 'first-start-shown';
const YES = Uint8Array.of(1);

/** Data for the welcome text. */
export interface Seeded {
  /** Local mode: the mailbox to try things with; the password only if it was created at this start. */
  address?: string;
  password?: string;
  /** Local mode, first start: a token of the operator's organization. */
  token?: string;
  /** Local mode: secret of the one-time sign-in link. */
  signIn?: string;
  /** Live mode until the server is claimed: secret of the claim link. */
  claim?: string;
  /** Live mode: claimed, but no owner has a verified address for notices. */
  noOwnerAddress?: boolean;
}

/**
 * Creates the data of the first start. Idempotent: the next start completes one that was interrupted. If a start failed
 * before the welcome text was printed, the next one creates a new password and token, as nobody has seen the first.
 */
export async function seed(context: AccountContext, settings: Settings): Promise<Seeded> {
  const { id } = await context.store.write(seedOperator, { name: settings.live ? settings.hostname : 'Local' });
  if (id !== OPERATOR) throw new Error("the operator's organization is not the first of this database");
  const domains = await context.store.read(listDomains, undefined);
  // Bounces and notices are sent as mailstead@HOSTNAME, signed with DKIM keys of this domain.
  if (settings.live && !domains.some((domain) => domain.name === settings.hostname)) {
    await onboardDomain(context, { tenant: BOX, name: settings.hostname, verified: true });
  }
  return settings.live ? seedLive(context) : seedLocal(context, settings);
}

async function seedLive({ store }: AccountContext): Promise<Seeded> {
  const { secret, hash } = newSecret();
  const { kind } = await store.write(offerOperatorClaim, { organization: OPERATOR, hash });
  if (kind === 'offered') return { claim: secret };
  const owners = await store.read(notifiedOwners, { organization: OPERATOR, daily: false });
  return { noOwnerAddress: owners.length === 0 };
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
  const known = accounts.find((account) => account.address === LOCAL_ADDRESS);
  if (known !== undefined)
    return (await isWelcomeShown(context.store))
      ? { address: LOCAL_ADDRESS }
      : renewPassword(context, known.id, settings);
  const address = parseAddress(LOCAL_ADDRESS);
  await context.store.write(setSetting, { name: FIRST_START, value: YES });
  const domain = await onboardDomain(context, { tenant: OPERATOR, name: 'box.test', verified: true });
  if (address === undefined || !('id' in domain)) throw new Error('failed to create the domain box.test');
  const password = settings.localPassword;
  const made = await provisionAccount(context, {
    tenant: OPERATOR,
    domainId: domain.id,
    address,
    ...(password !== undefined && { password }),
  });
  if (made.kind !== 'added') throw new Error(`failed to create the mailbox ${LOCAL_ADDRESS}: ${made.kind}`);
  return { address: made.address, password: made.password };
}

async function renewPassword(context: AccountContext, account: number, { localPassword }: Settings): Promise<Seeded> {
  // No session exists yet whose login would have to be dropped.
  const changed = await changeMailboxPassword({ ...context, revoked: () => undefined }, account, localPassword);
  if (changed.kind !== 'changed') throw new Error(`failed to set the password of ${LOCAL_ADDRESS}: ${changed.kind}`);
  return { address: changed.address, password: changed.password };
}

/** Records that the welcome text was printed: its password and token are known to the user. */
export async function confirmWelcome(store: Store): Promise<void> {
  await store.write(setSetting, { name: FIRST_START_SHOWN, value: YES });
}

async function isWelcomeShown(store: Store): Promise<boolean> {
  const [first, shown] = await Promise.all([
    store.read(getSetting, { name: FIRST_START }),
    store.read(getSetting, { name: FIRST_START_SHOWN }),
  ]);
  return first === undefined || shown !== undefined;
}
