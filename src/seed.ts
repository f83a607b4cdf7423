import { parseAddress } from '../mail/message/address.ts';
import { listAccounts, OPERATOR } from '../mail/store/account.ts';
import { listDomains } from '../mail/store/domain.ts';
import type { Store } from '../mail/store/engine/types.ts';
import type { Settings } from '../config/settings.ts';
import { type AccountContext, provisionAccount } from './accounts/accounts.ts';
import { onboardDomain } from './domains/domains.ts';
import { BOX } from './letters/letter.ts';
import { seedOperator } from './organizations/commands.ts';
import { offerOperatorClaim, seedLocalOwner } from './people/operator-commands.ts';
import { newSecret } from './people/secrets.ts';

const LOCAL_ADDRESS = 'me@box.test';

export interface Seeded {
  /** Local mode: the mailbox to try things with; the password only when it was made just now. */
  address: string | undefined;
  password: string | undefined;
  /** Below {base_url}: the page by which the operator gets in, once; undefined when somebody owns a live box already. */
  door: string | undefined;
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
  return settings.live
    ? { address: undefined, password: undefined, door: await claimDoor(context.store) }
    : { ...(await seedLocal(context, settings)), door: await signInDoor(context.store) };
}

async function claimDoor(store: Store): Promise<string | undefined> {
  const { secret, hash } = newSecret();
  const { kind } = await store.write(offerOperatorClaim, { organization: OPERATOR, hash });
  return kind === 'offered' ? `/auth/setup?token=${secret}` : undefined;
}

async function signInDoor(store: Store): Promise<string> {
  const { secret, hash } = newSecret();
  await store.write(seedLocalOwner, { organization: OPERATOR, email: LOCAL_ADDRESS, hash });
  return `/auth/sign-in?token=${secret}`;
}

async function seedLocal(context: AccountContext, settings: Settings): Promise<Omit<Seeded, 'door'>> {
  const accounts = await context.store.read(listAccounts, undefined);
  if (accounts.some((account) => account.address === LOCAL_ADDRESS))
    return { address: LOCAL_ADDRESS, password: undefined };
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
