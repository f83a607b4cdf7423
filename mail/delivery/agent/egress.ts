import { plainAddress } from '../../message/plain-address.ts';
import type { Read } from '../../store/engine/types.ts';
import { exposedSince, readBy, type ReadMail } from '../../store/exposure.ts';
import { type Asking, sendingOf } from './asking.ts';
import { type Recipient, writtenToBefore } from './circle.ts';
import type { AgentSending, Reason, Unread } from './types.ts';
import { naming } from './why.ts';

/** Messages that a reason names. */
const MOST_NAMED = 3;

/**
 * Why a person has to let a message go: what an agent has read may have talked it into this. Nothing of that where nobody
 * could let it go.
 */
export async function egress(rx: Read, asking: Asking, now: number): Promise<readonly Reason[]> {
  const { mail, agent, circle } = asking;
  if (!agent.attended || !agent.policy.holdAfterReading) return [];
  const outside = circle.recipients.filter(({ house, allowed }) => !(house || allowed));
  if (outside.length === 0) return [];
  const since = await exposedSince(rx, sendingOf(mail, agent), now);
  const known = await writtenToBefore(rx, mail, outside, since ?? now);
  const reasons = diverted(outside, known);
  const handed = handedOn(agent, outside);
  if (handed.length > 0) reasons.push(reason('forward_after_reading', 'It hands on mail of somebody else to', handed));
  if (agent.unread !== undefined && (since !== undefined || agent.sawSecrets === true)) {
    reasons.push(...closed(asking, outside, agent.unread));
  }
  if (since === undefined) return reasons;
  const read = await readBy(rx, sendingOf(mail, agent), MOST_NAMED, now);
  return [...reasons, ...held(outside, known, afterReading(read))];
}

/** Messages that one counts for: where nobody could let it go, what follows on reading counts double. */
export async function weightOf(
  rx: Read,
  { mail, agent }: Pick<Asking, 'mail' | 'agent'>,
  now: number,
): Promise<number> {
  if (agent.attended) return 1;
  return (await exposedSince(rx, sendingOf(mail, agent), now)) === undefined ? 1 : 2;
}

/** Somebody else's address in Reply-To is the oldest way to have an answer sent elsewhere: it needs no reading. */
function diverted(outside: readonly Recipient[], known: ReadonlySet<string>): Reason[] {
  const led = outside.filter(({ divertedTo, author, key }) => divertedTo && !author && !known.has(key));
  return led.length === 0
    ? []
    : [reason('reply_to_differs', 'The answered message has its answers sent elsewhere, to', led)];
}

/** To whom it is news what a message carries. Which conversation it answers is said by who sends, and may be any. */
function handedOn({ forwards, handsBack }: AgentSending, outside: readonly Recipient[]): readonly Recipient[] {
  if (forwards) return outside;
  return handsBack === true ? outside.filter(({ author, named }) => !(author || named)) : [];
}

/** Under a policy nothing goes to outsiders of which nobody here can say what it is: not even to who wrote in the thread. */
function closed({ agent }: Asking, outside: readonly Recipient[], unread: readonly Unread[]): Reason[] {
  if (!agent.governed) return [];
  return unread.map((why) => reason('not_looked_into', `${UNREAD[why]}, and it goes to`, outside));
}

const UNREAD: Readonly<Record<Unread, string>> = {
  locked: 'It holds a file with a password, which cannot be looked into',
  packed: 'It holds a file that cannot be opened here, or is packed too deep',
  unknown: 'It holds a file of which nobody knows what it is',
  long: 'It holds more text than is looked through for secrets in all codings',
};

/** Those who neither wrote in the thread, provably, nor were written to before anything was read. */
function held(outside: readonly Recipient[], known: ReadonlySet<string>, after: string): Reason[] {
  const strangers = outside.filter(({ author, divertedTo, key }) => !(author || divertedTo || known.has(key)));
  const groups = Map.groupBy(strangers, ({ claimed, named }) => {
    if (claimed) return 'unauthenticated_author';
    return named ? 'recipient_only_in_untrusted_text' : 'first_seen_recipient';
  });
  return [...groups].map(([code, some]) => reason(code, HELD[code], some, after));
}

const HELD = {
  unauthenticated_author: 'Nothing proves that the author of the thread is',
  recipient_only_in_untrusted_text: 'Only what others wrote names',
  first_seen_recipient: 'The mailbox never wrote to',
} as const;

function reason(code: string, what: string, about: readonly Recipient[], after = ''): Reason {
  return { code, text: `${what} ${naming(about)}${after}`, recipients: about.map(({ address }) => address) };
}

/** Which mail was read, by its authors' addresses. */
function afterReading(read: readonly ReadMail[]): string {
  const authors = [...new Set(read.map(({ author }) => plainAddress(author)).filter((author) => author !== ''))];
  return authors.length === 0
    ? ', and mail of outsiders was read'
    : `, and mail of ${authors.join(', ')} was read before`;
}
