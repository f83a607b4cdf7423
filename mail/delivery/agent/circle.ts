import { textKey } from '../../message/address.ts';
import { type Authored, threadAuthors } from '../../store/authors.ts';
import type { Read } from '../../store/engine/types.ts';
import { MOST_WAYS, waysOn } from '../../store/forwarder.ts';
import { ownNames } from '../../store/own-names.ts';
import { ownerOf } from '../../store/queue-lane.ts';
import { reachedBefore } from '../../store/reached.ts';
import { replyTo } from '../../store/reply-to.ts';
import { namedRecipients } from '../outgoing.ts';
import type { Submission } from '../submit.ts';
import { covers } from './patterns.ts';
import type { AgentSending } from './types.ts';

/** Somebody to whom an agent writes, and what is known of them. */
export interface Recipient {
  /** As written. */
  address: string;
  /** As compared. */
  key: string;
  /** A mailbox, owner or member of the organization, whose mail nobody outside gets as well. */
  house: boolean;
  /** Owners said that mail to them is never held. */
  allowed: boolean;
  /** Wrote, provably, in the thread that is answered. */
  author: boolean;
  /** Somebody who claims this address wrote in that thread. */
  claimed: boolean;
  /** Stands in To or Cc of a message of that thread. */
  named: boolean;
  /** The answered message wants its answers there, and is not from there. */
  divertedTo: boolean;
}

/** Everybody who gets a message of an agent, and the thread that it answers. */
export interface Circle {
  recipients: readonly Recipient[];
  /** Row of the thread; null: it answers nothing that the mailbox has. */
  thread: number | null;
  /** Who wrote in it, newest first; empty when it answers nothing. */
  authors: readonly Authored[];
}

/** Finds out about all recipients of a message, those in Bcc and on this box among them. */
export async function circleOf(rx: Read, mail: Submission, agent: AgentSending): Promise<Circle> {
  const { answers, policy, house = [] } = agent;
  const known = mail.account === null || answers === null ? [] : await threadAuthors(rx, mail.account, answers);
  const answered = known.find(({ email }) => email === answers);
  const authors = answered === undefined ? [] : known;
  const addresses = [...new Map(namedRecipients(mail).map((address) => [textKey(address), address]))];
  const inHouse: InHouse = async (keys) => {
    const own = await insiders(rx, mail, keys);
    return (key) => own.has(key) || house.includes(key);
  };
  const inside = await staysInside(
    rx,
    addresses.map(([key]) => key),
    { inHouse, allow: policy.allow },
  );
  const diverted = answered === undefined ? [] : await replyTo(rx, answered);
  const proved = new Set(authors.filter(({ authentic }) => authentic).map(({ author }) => author));
  // What the agent itself put into the mailbox says of nobody that they wrote.
  const claimed = new Set(authors.filter(({ ownCopy }) => !ownCopy).map(({ author }) => author));
  const named = new Set(authors.flatMap(({ others }) => others));
  return {
    thread: answered?.thread ?? null,
    authors,
    recipients: addresses.map(([key, address]) => ({
      address,
      key,
      house: inside.has(key),
      allowed: covers(policy.allow, key),
      author: proved.has(key),
      claimed: claimed.has(key),
      named: named.has(key),
      divertedTo: diverted.includes(key),
    })),
  };
}

/** Finds out which of these addresses (keys) are of the house, wherever their mail goes on to. */
type InHouse = (keys: readonly string[]) => Promise<(key: string) => boolean>;

/**
 * Of these addresses (keys) those of the house that are no way out of it: a forward leads nowhere else, or to who is
 * allowed by name.
 */
async function staysInside(
  rx: Read,
  keys: readonly string[],
  { inHouse, allow }: { inHouse: InHouse; allow: readonly string[] },
): Promise<ReadonlySet<string>> {
  const own = keys.filter(await inHouse(keys));
  const ways = await waysOn(rx, own);
  if (ways.length > MOST_WAYS) return new Set();
  const isOwn = await inHouse(ways.map(({ to }) => to));
  const out = new Set(ways.filter(({ to }) => !isOwn(to) && !covers(allow, to)).map(({ from }) => from));
  return new Set(own.filter((key) => !out.has(key)));
}

/** Addresses (keys) whose mail all comes into mailboxes of the organization that sends, be it by an alias or a catch-all. */
async function insiders(rx: Read, { tenant, here }: Submission, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await ownNames(rx, tenant, keys);
  const led = Map.groupBy(here, ({ to }) => textKey(to));
  for (const key of keys) {
    const accounts = (led.get(key) ?? []).map(({ account }) => account);
    if (accounts.length > 0 && (await areAllOf(rx, tenant, accounts))) found.add(key);
  }
  return found;
}

async function areAllOf(rx: Read, tenant: number, accounts: readonly number[]): Promise<boolean> {
  const other = await rx.get(
    'SELECT 1 AS there FROM json_each(?) g JOIN account a ON a.id = g.value WHERE a.tenant <> ? LIMIT 1',
    JSON.stringify(accounts),
    tenant,
  );
  return other === undefined;
}

/** Which of these the sender had written to before a time, ms UTC. */
export function writtenToBefore(
  rx: Read,
  mail: Submission,
  recipients: readonly Recipient[],
  before: number,
): Promise<ReadonlySet<string>> {
  return reachedBefore(
    rx,
    ownerOf(mail),
    recipients.map(({ key }) => key),
    before,
  );
}
