import { plainAddress } from '../../message/plain-address.ts';
import type { Read } from '../../store/engine/types.ts';
import { taintedSince, readBy, type ReadMail } from '../taint/taint.ts';
import { type GateInput, type Recipient, sendingOf } from './gate-input.ts';
import { writtenToBefore } from './recipient-context.ts';
import type { AgentSending, Reason, UnscannedReason } from './types.ts';
import { nameRecipients } from './reasons.ts';

/** Messages that a reason names. */
const MAX_NAMED = 3;
const NOBODY: ReadonlySet<string> = new Set();

/**
 * Reasons to hold a message: content that the agent has read may have instructed it (prompt injection). None if no person
 * could approve it.
 */
export async function holdReasons(rx: Read, input: GateInput, now: number): Promise<readonly Reason[]> {
  const { mail, agent, context } = input;
  if (!agent.attended || !agent.policy.holdAfterReading) return [];
  const outside = context.recipients.filter(({ internal, allowed }) => !(internal || allowed));
  if (outside.length === 0) return [];
  const since = await taintedSince(rx, sendingOf(mail, agent), now);
  const redirected = outside.filter(({ divertedTo, author }) => divertedTo && !author);
  const needsKnown = since !== undefined || redirected.length > 0;
  const known = needsKnown ? await writtenToBefore(rx, mail, outside, since ?? now) : NOBODY;
  const reasons: Reason[] = [];
  const unknown = redirected.filter(({ key }) => !known.has(key));
  // A Reply-To that differs from From redirects answers without any reading.
  if (unknown.length > 0)
    reasons.push(reason('reply_to_differs', 'The answered message redirects replies to', unknown));
  const forwarded = forwardedTo(agent, outside);
  if (forwarded.length > 0)
    reasons.push(reason('forward_after_reading', "It forwards somebody else's mail to", forwarded));
  if (agent.unscanned !== undefined && (since !== undefined || agent.sawSecrets === true)) {
    reasons.push(...unscannedReasons(input, outside, agent.unscanned));
  }
  if (since === undefined) return reasons;
  const read = await readBy(rx, sendingOf(mail, agent), MAX_NAMED, now);
  return [...reasons, ...unknownRecipientReasons(outside, known, afterReading(read))];
}

/** Weight of a message in budgets: doubled after tainted reading. Only for agents whose mail no person could approve. */
export async function weightOf(
  rx: Read,
  { mail, agent }: Pick<GateInput, 'mail' | 'agent'>,
  now: number,
): Promise<number> {
  return (await taintedSince(rx, sendingOf(mail, agent), now)) === undefined ? 1 : 2;
}

/**
 * Recipients for whom the forwarded content is new. That a mail answers a conversation proves nothing: a stranger chooses
 * by References which one it is.
 */
function forwardedTo(
  { forwards, carriesConversation }: AgentSending,
  outside: readonly Recipient[],
): readonly Recipient[] {
  if (forwards) return outside;
  return carriesConversation === true ? outside.filter(({ author, named }) => !(author || named)) : [];
}

/** Holds content that cannot be scanned, for governed agents: even to authors of the thread. */
function unscannedReasons(
  { agent }: GateInput,
  outside: readonly Recipient[],
  unread: readonly UnscannedReason[],
): Reason[] {
  if (!agent.governed) return [];
  return unread.map((why) => reason('not_looked_into', `${UNREAD[why]}, and the message goes to`, outside));
}

const UNREAD: Readonly<Record<UnscannedReason, string>> = {
  locked: 'An attachment is protected with a password and cannot be scanned',
  packed: 'An attachment cannot be unpacked, or is nested too deep',
  unknown: 'An attachment is of an unknown type',
  long: 'The text is too long to be scanned for secrets in all encodings',
};

/** Recipients that are no authenticated authors of the thread and were not written to before the taint. */
function unknownRecipientReasons(outside: readonly Recipient[], known: ReadonlySet<string>, after: string): Reason[] {
  const strangers = outside.filter(({ author, divertedTo, key }) => !(author || divertedTo || known.has(key)));
  const groups = Map.groupBy(strangers, ({ claimed, named }) => {
    if (claimed) return 'unauthenticated_author';
    return named ? 'recipient_only_in_untrusted_text' : 'first_seen_recipient';
  });
  return [...groups].map(([code, some]) => reason(code, HELD[code], some, after));
}

const HELD = {
  unauthenticated_author: 'Nothing authenticates as author of the thread',
  recipient_only_in_untrusted_text: 'Only mail from outsiders names',
  first_seen_recipient: 'The mailbox has never written to',
} as const;

function reason(code: string, what: string, about: readonly Recipient[], after = ''): Reason {
  return { code, text: `${what} ${nameRecipients(about)}${after}`, recipients: about.map(({ address }) => address) };
}

/** Names the authors of the mail that was read. */
function afterReading(read: readonly ReadMail[]): string {
  const authors = [...new Set(read.map(({ author }) => plainAddress(author)).filter((author) => author !== ''))];
  return authors.length === 0
    ? ', and the agent has read mail from outsiders'
    : `, and the agent has read mail from ${authors.join(', ')}`;
}
