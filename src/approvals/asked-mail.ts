import { type OutboxItem, outboxItem } from '../../mail/delivery/outbox-items.ts';
import { accountOf } from '../../mail/store/account.ts';
import { agentSendOf } from '../../mail/store/agent-send.ts';
import type { ReadMail } from '../../mail/store/exposure.ts';
import { rowId } from '../ids.ts';
import type { World } from '../operations/world.ts';
import { type Beginning, beginningOf } from '../reading/beginning.ts';
import { inPlainSight } from '../untrusted/plain-sight.ts';
import { tokenName, waitingOctets } from './queries.ts';

/** A message that a person is asked about, or was. */
export interface AskedMail {
  item: OutboxItem & { approval: NonNullable<OutboxItem['approval']> };
  /** A token or a mailbox, as people know it. */
  askedBy: string;
  /** What outsiders wrote that the agent had read by then, the newest of it. */
  hadRead: readonly ReadMail[];
  /** As it leaves, in plain sight; undefined when it waits no more. */
  message: (Beginning & { /** Octets of the whole. */ size: number }) | undefined;
}

type Ground = Pick<World, 'store' | 'texts' | 'clock'>;

/** One of an organization, for a person who may decide for these accounts (null: all); undefined: there is none such. */
export async function askedMail(
  world: Ground,
  { tenant, accounts, id }: { tenant: number; accounts: readonly number[] | null; id: number },
): Promise<AskedMail | undefined> {
  const item = await world.store.read(outboxItem, { id, now: world.clock() });
  const mine = accounts === null || (item?.account != null && accounts.includes(item.account));
  if (item?.tenant !== tenant || !mine || item.approval === null) return undefined;
  const octets = await world.store.read(waitingOctets, { id });
  const message = octets && { ...inSight(await beginningOf(world, octets)), size: octets.size };
  const { approval, trace } = item;
  const sending = await world.store.read(agentSendOf, { tenant, trace });
  const askedBy = await askerOf(world, tenant, approval.credential);
  return {
    item: { ...itemInSight(item), approval: approvalInSight(approval) },
    askedBy,
    hadRead: sending?.exposure ?? [],
    message,
  };
}

function itemInSight<T extends OutboxItem>(item: T): T {
  return { ...item, sender: inPlainSight(item.sender), recipients: item.recipients.map((one) => inPlainSight(one)) };
}

function approvalInSight(approval: AskedMail['item']['approval']): AskedMail['item']['approval'] {
  const reasons = approval.reasons.map((one) => ({ ...one, text: inPlainSight(one.text) }));
  return { ...approval, subject: inPlainSight(approval.subject), reasons };
}

function inSight(message: Beginning): Beginning {
  const { from, to, cc, subject, text, attachments } = message;
  return {
    ...message,
    from: inPlainSight(from),
    to: inPlainSight(to),
    cc: inPlainSight(cc),
    subject: inPlainSight(subject),
    text: inPlainSight(text, { lines: true }),
    attachments: attachments.map((one) => ({
      filename: inPlainSight(one.filename),
      contentType: inPlainSight(one.contentType),
    })),
  };
}

/** Who asks, by name in plain sight; what has none any more by its id. */
export async function askerOf({ store }: Pick<World, 'store'>, tenant: number, credential: string): Promise<string> {
  const token = rowId('token', credential);
  const mailbox = rowId('mailbox', credential);
  const name =
    token === undefined
      ? mailbox && (await store.read(accountOf, { tenant, id: mailbox }))?.address
      : await store.read(tokenName, { organization: tenant, id: token });
  return inPlainSight(typeof name === 'string' && name !== '' ? name : credential);
}
