import { parseAddress } from '../message/address.ts';
import { namePatterns, matchSenderRules } from '../policy/sender-rules.ts';
import type { Read } from '../store/engine/types.ts';
import { recipientRules } from '../store/filter/sender-rule.ts';
import { namedRecipients } from './outgoing.ts';
import type { OutgoingMessage } from './types.ts';

/** Returns the reason why a rule blocks a recipient, without a full stop; undefined for none. */
export async function findBlockedRecipient(rx: Read, mail: OutgoingMessage): Promise<string | undefined> {
  const { tenant, account } = mail;
  const named = namedRecipients(mail);
  const patterns = (): string[] => [...new Set(named.flatMap((to) => namePatterns(parseAddress(to))))];
  const rules = await recipientRules(rx, { tenant, account, patterns });
  if (rules.length === 0) return undefined;
  for (const to of named) {
    const ruling = matchSenderRules(rules, {
      author: parseAddress(to),
      aligned: true,
      sender: undefined,
      networks: [],
    });
    if (ruling?.kind === 'block') {
      return `Mail to ${to} is blocked by the rule ${ruling.rule.pattern} of ${ruling.rule.account === null ? 'the organization' : 'the mailbox'}; list_sender_rules shows it`;
    }
  }
  return undefined;
}
