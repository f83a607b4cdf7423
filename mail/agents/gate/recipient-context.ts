import { textKey } from '../../message/address.ts';
import { threadAuthors } from '../../store/message/authors.ts';
import type { Read } from '../../store/engine/types.ts';
import { MAX_FORWARD_TARGETS, forwardTargets } from '../../store/address/forwarder.ts';
import { ownNames } from '../../store/address/own-names.ts';
import { ownerOf } from '../../store/queue/queue-lane.ts';
import { contactedBefore } from './contacted.ts';
import { replyTo } from '../../store/message/reply-to.ts';
import type { AgentMail, Recipient, RecipientContext } from './gate-input.ts';
import { isListed } from '../policy/strictest.ts';
import type { AgentSending } from './types.ts';

/** Collects the facts about all recipients of a message, Bcc and local ones included. */
export async function recipientContext(rx: Read, mail: AgentMail, agent: AgentSending): Promise<RecipientContext> {
  const { answers, policy } = agent;
  const known = mail.account === null || answers === null ? [] : await threadAuthors(rx, mail.account, answers);
  const answered = known.find(({ email }) => email === answers);
  const authors = answered === undefined ? [] : known;
  const addresses = new Map(mail.recipients.map((address) => [textKey(address), address]));
  const internalKeys = await internalOnly(rx, mail, agent, [...addresses.keys()]);
  const diverted = answered === undefined ? [] : await replyTo(rx, answered);
  const proved = new Set(authors.filter(({ authentic }) => authentic).map(({ author }) => author));
  // Copies that the agent itself put into the mailbox prove no author.
  const claimed = new Set(authors.filter(({ ownCopy }) => !ownCopy).map(({ author }) => author));
  const named = new Set(authors.flatMap(({ others }) => others));
  return {
    thread: answered?.thread ?? null,
    authors,
    recipients: Array.from(addresses, ([key, address]) => ({
      address,
      key,
      internal: internalKeys.has(key),
      allowed: isListed(policy.allow, key),
      author: proved.has(key),
      claimed: claimed.has(key),
      named: named.has(key),
      divertedTo: diverted.includes(key),
    })),
  };
}

/** Keeps the internal addresses whose forwards lead only to internal or allowed addresses. */
async function internalOnly(
  rx: Read,
  mail: AgentMail,
  { policy: { allow }, internal }: AgentSending,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const own = await insiders(rx, mail, internal, keys);
  if (own.size === 0) return own;
  const ways = await forwardTargets(rx, [...own]);
  if (ways.length > MAX_FORWARD_TARGETS) return new Set();
  const targets = ways.map(({ to }) => to);
  const inside = await insiders(rx, mail, internal, targets);
  for (const { from, to } of ways) if (!inside.has(to) && !isListed(allow, to)) own.delete(from);
  return own;
}

/**
 * Addresses (keys) whose mail only reaches mailboxes of the sending organization, through an alias or catch-all too, and
 * those that `internal` names.
 */
async function insiders(
  rx: Read,
  mail: AgentMail,
  internal: readonly string[] | undefined,
  keys: readonly string[],
): Promise<Set<string>> {
  const found = await localRecipients(rx, mail, keys);
  for (const key of keys) if (internal?.includes(key) === true) found.add(key);
  return found;
}

/** Addresses (keys) whose mail reaches mailboxes of the sending organization, through an alias or catch-all too. */
export async function localRecipients(
  rx: Read,
  { tenant, here }: Pick<AgentMail, 'tenant' | 'here'>,
  keys: readonly string[],
): Promise<Set<string>> {
  const found = await ownNames(rx, tenant, keys);
  const led = Map.groupBy(here, ({ to }) => textKey(to));
  for (const key of keys) {
    const accounts = (led.get(key) ?? []).map(({ account }) => account);
    if (accounts.length > 0 && (await belongToTenant(rx, tenant, accounts))) found.add(key);
  }
  return found;
}

async function belongToTenant(rx: Read, tenant: number, accounts: readonly number[]): Promise<boolean> {
  const other = await rx.get(
    'SELECT 1 AS there FROM json_each(?) g JOIN account a ON a.id = g.value WHERE a.tenant <> ? LIMIT 1',
    JSON.stringify(accounts),
    tenant,
  );
  return other === undefined;
}

/** Recipients that the sender had written to before a time, ms UTC. */
export function writtenToBefore(
  rx: Read,
  mail: AgentMail,
  recipients: readonly Recipient[],
  before: number,
): Promise<ReadonlySet<string>> {
  return contactedBefore(
    rx,
    ownerOf(mail),
    recipients.map(({ key }) => key),
    before,
  );
}
