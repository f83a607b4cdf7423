import { type Address, addressKey, parseAddress, textKey } from '../message/address.ts';
import { patternsOf, rulingOn } from '../policy/sender-rules.ts';
import type { Read } from '../store/engine/types.ts';
import { rulesOfOthers } from '../store/sender-rule.ts';
import type { Delivery } from './deliver.ts';
import { blockedFiling } from './filing.ts';
import { namedRecipients, type Outgoing } from './outgoing.ts';

/** A message of one organization for mailboxes of this box. */
export type Local = Pick<Outgoing, 'tenant' | 'sender' | 'here'> & { authors: readonly Address[] };

/** Whom a mailbox does not want to hear from, by whose word. */
interface Block {
  from: string;
  /** A sentence without its full stop. */
  why: string;
}

/**
 * Mailboxes of other organizations of this box that block who writes: to them the sender is a stranger like any. Within
 * an organization nobody is blocked.
 */
async function blocksOf(rx: Read, { tenant, sender, here, authors }: Local): Promise<Map<number, Block>> {
  const envelope = parseAddress(sender);
  const named = authors.length === 0 ? [envelope] : authors;
  const writers = named.map((author) => ({ author, sender: envelope, networks: [], aligned: true }));
  const accounts = here.map(({ account }) => account);
  const rules = await rulesOfOthers(rx, { tenant, accounts, patterns: () => writers.flatMap(patternsOf) });
  const blocks = new Map<number, Block>();
  for (const [account, known] of rules) {
    for (const writer of writers) {
      const ruling = rulingOn(known, writer);
      if (ruling?.kind !== 'block') continue;
      blocks.set(account, { from: writer.author === undefined ? '' : addressKey(writer.author), why: ruling.why });
    }
  }
  return blocks;
}

/** Why a message may not go to one of its recipients, as a sentence without its full stop; undefined when it may. */
export async function blockedSender(rx: Read, mail: Local & Outgoing): Promise<string | undefined> {
  const blocks = await blocksOf(rx, mail);
  if (blocks.size === 0) return undefined;
  for (const to of new Set(namedRecipients(mail))) {
    const own = mail.here.filter((one) => textKey(one.to) === textKey(to));
    const [block, ...more] = own.map(({ account }) => blocks.get(account));
    if (block !== undefined && more.every((one) => one !== undefined)) return `${to} takes no mail from ${block.from}`;
  }
  return undefined;
}

/** What others take, or a forward leads there, is Junk for who blocks it: nobody is there who could be refused. */
export async function filedForBlockers(rx: Read, mail: Local): Promise<readonly Delivery[]> {
  const blocks = await blocksOf(rx, mail);
  if (blocks.size === 0) return mail.here;
  return mail.here.map((one) => {
    const block = blocks.get(one.account);
    return block === undefined ? one : { ...one, filing: blockedFiling(block.why) };
  });
}
