import { type Address, addressKey, parseAddress, textKey } from '../message/address.ts';
import { senderPatterns, matchSenderRules } from '../policy/sender-rules.ts';
import type { Read } from '../store/engine/types.ts';
import { rulesOfOthers } from '../store/filter/sender-rule.ts';
import { createBlockedFiling } from './filing.ts';
import { namedRecipients } from './outgoing.ts';
import type { Delivery, OutgoingMessage } from './types.ts';

/** A submitted message for local mailboxes. */
export type LocalMail = Pick<OutgoingMessage, 'tenant' | 'sender' | 'here'> & { authors: readonly Address[] };

/** Block rule match of one mailbox. */
interface SenderBlock {
  from: string;
  /** Reason: a sentence without its full stop. */
  why: string;
}

/**
 * Finds mailboxes of other organizations that block the sender. Block rules do not apply within an organization.
 */
async function findBlocks(rx: Read, { tenant, sender, here, authors }: LocalMail): Promise<Map<number, SenderBlock>> {
  const envelope = parseAddress(sender);
  const named = authors.length === 0 ? [envelope] : authors;
  const writers = named.map((author) => ({ author, sender: envelope, networks: [], aligned: true }));
  const accounts = here.map(({ account }) => account);
  const rules = await rulesOfOthers(rx, { tenant, accounts, patterns: () => writers.flatMap(senderPatterns) });
  const blocks = new Map<number, SenderBlock>();
  for (const [account, known] of rules) {
    for (const writer of writers) {
      const ruling = matchSenderRules(known, writer);
      if (ruling?.kind !== 'block') continue;
      blocks.set(account, { from: writer.author === undefined ? '' : addressKey(writer.author), why: ruling.why });
    }
  }
  return blocks;
}

/** Returns the reason why a recipient rejects the message, without a full stop; undefined for none. */
export async function findBlockedSender(rx: Read, mail: LocalMail & OutgoingMessage): Promise<string | undefined> {
  if (mail.here.length === 0) return undefined;
  const blocks = await findBlocks(rx, mail);
  for (const to of new Set(namedRecipients(mail))) {
    const own = mail.here.filter((one) => textKey(one.to) === textKey(to));
    const [block, ...more] = own.map(({ account }) => blocks.get(account));
    if (block !== undefined && more.every((one) => one !== undefined)) return `${to} takes no mail from ${block.from}`;
  }
  return undefined;
}

/** Files the message in Junk for accounts that block the sender, where other recipients accept it. */
export async function fileAsJunkForBlockers(rx: Read, mail: LocalMail): Promise<readonly Delivery[]> {
  const blocks = await findBlocks(rx, mail);
  if (blocks.size === 0) return mail.here;
  return mail.here.map((one) => {
    const block = blocks.get(one.account);
    return block === undefined ? one : { ...one, filing: createBlockedFiling(block.why) };
  });
}
