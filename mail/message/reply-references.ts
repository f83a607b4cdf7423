import { writtenIds } from './msg-id.ts';

/** Fields of the message that is answered: values as they stand after the colon. */
export interface Answered {
  messageId: string | undefined;
  inReplyTo: string | undefined;
  references: string | undefined;
}

/** Ids in the References of a reply. */
const MOST_REFERENCES = 20;

/**
 * In-Reply-To and References of an answer; undefined when the message has no id that could be named. RFC 5322 3.6.4. Of a
 * long line of references the first stays, which is the root of the thread, and the newest.
 */
export function replyReferences(to: Answered): { inReplyTo: string; references: string } | undefined {
  const [own] = named(to.messageId);
  if (own === undefined) return undefined;
  const before = lineBefore(to).filter((id) => id !== own);
  const kept = before.length < MOST_REFERENCES ? before : [...before.slice(0, 1), ...before.slice(2 - MOST_REFERENCES)];
  return { inReplyTo: own, references: [...kept, own].join(' ') };
}

/** Of several messages that are answered at once nobody can say which line the reply goes on. */
function lineBefore({ inReplyTo, references }: Answered): string[] {
  const line = named(references);
  if (line.length > 0) return line;
  const answered = named(inReplyTo);
  return answered.length === 1 ? answered : [];
}

/** Strangers wrote them: what could not stand in a line of a header is left out. */
function named(value: string | undefined): string[] {
  const ids = writtenIds(value ?? '').filter((id) => /^[!-;=?-~]{1,250}$/.test(id));
  return [...new Set(ids)].map((id) => `<${id}>`);
}
