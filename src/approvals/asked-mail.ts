import { type OutboxItem, outboxItem } from '../../mail/delivery/outbox-items.ts';
import { accountOf } from '../../mail/store/account.ts';
import { agentSendOf } from '../../mail/store/agent-send.ts';
import type { ReadMail } from '../../mail/store/exposure.ts';
import { rowId } from '../ids.ts';
import type { World } from '../operations/world.ts';
import { type Beginning, beginningOf } from '../reading/beginning.ts';
import { tokenName, waitingOctets } from './queries.ts';

/** A message that a person is asked about, or was. */
export interface AskedMail {
  item: OutboxItem & { approval: NonNullable<OutboxItem['approval']> };
  /** A token or a mailbox, as people know it. */
  askedBy: string;
  /** What outsiders wrote that the agent had read by then, the newest of it. */
  hadRead: readonly ReadMail[];
  /** As it leaves; undefined when it waits no more. */
  message: Beginning | undefined;
}

type Ground = Pick<World, 'store' | 'clock'>;

/** One of an organization, for a person who may decide for these accounts (null: all); undefined: there is none such. */
export async function askedMail(
  world: Ground,
  { tenant, accounts, id }: { tenant: number; accounts: readonly number[] | null; id: number },
): Promise<AskedMail | undefined> {
  const item = await world.store.read(outboxItem, { id, now: world.clock() });
  const mine = accounts === null || (item?.account != null && accounts.includes(item.account));
  if (item?.tenant !== tenant || !mine || item.approval === null) return undefined;
  const octets = await world.store.read(waitingOctets, { id });
  const message = octets && (await beginningOf(world.store, octets));
  const { approval, trace } = item;
  const sending = await world.store.read(agentSendOf, { tenant, trace });
  const askedBy = await askerOf(world, tenant, approval.credential);
  return { item: { ...item, approval }, askedBy, hadRead: sending?.exposure ?? [], message };
}

/** Who asks, by name; what has none any more by its id. */
export async function askerOf({ store }: Ground, tenant: number, credential: string): Promise<string> {
  const token = rowId('token', credential);
  const mailbox = rowId('mailbox', credential);
  const name =
    token === undefined
      ? mailbox && (await store.read(accountOf, { tenant, id: mailbox }))?.address
      : await store.read(tokenName, { organization: tenant, id: token });
  return typeof name === 'string' && name !== '' ? name : credential;
}
