import { parseAddress } from '../message/address.ts';
import { namesOf, rulingOn } from '../policy/sender-rules.ts';
import type { Read } from '../store/engine/types.ts';
import { recipientRules } from '../store/sender-rule.ts';
import { namedRecipients, type Outgoing } from './outgoing.ts';

/** Why a message may not go to one of its recipients, as a sentence without its full stop; undefined when it may. */
export async function blockedRecipient(rx: Read, mail: Outgoing): Promise<string | undefined> {
  const { tenant, account } = mail;
  const named = namedRecipients(mail);
  const patterns = (): string[] => [...new Set(named.flatMap((to) => namesOf(parseAddress(to))))];
  const rules = await recipientRules(rx, { tenant, account, patterns });
  if (rules.length === 0) return undefined;
  for (const to of named) {
    const ruling = rulingOn(rules, { author: parseAddress(to), aligned: true, sender: undefined, networks: [] });
    if (ruling?.kind === 'block') {
      return `Mail to ${to} is blocked by the rule ${ruling.rule.pattern} of ${ruling.rule.account === null ? 'the organization' : 'the mailbox'}; list_sender_rules shows it`;
    }
  }
  return undefined;
}
