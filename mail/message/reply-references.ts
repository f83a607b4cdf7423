import { writtenIds } from './msg-id.ts';

/** Raw header values of the answered message. */
export interface AnsweredFields {
  messageId: string | undefined;
  inReplyTo: string | undefined;
  references: string | undefined;
}

/** Ids in References of a reply. */
const MAX_REFERENCES = 20;

/**
 * Creates In-Reply-To and References of a reply; undefined without a usable Message-ID. RFC 5322 3.6.4. A long list keeps
 * the first id, the root of the thread, and the newest.
 */
export function replyReferences(to: AnsweredFields): { inReplyTo: string; references: string } | undefined {
  const [own] = named(to.messageId);
  if (own === undefined) return undefined;
  const before = lineBefore(to).filter((id) => id !== own);
  const kept = before.length < MAX_REFERENCES ? before : [...before.slice(0, 1), ...before.slice(2 - MAX_REFERENCES)];
  return { inReplyTo: own, references: [...kept, own].join(' ') };
}

/** Returns the previous references: References, else a single In-Reply-To. */
function lineBefore({ inReplyTo, references }: AnsweredFields): string[] {
  const line = named(references);
  if (line.length > 0) return line;
  const answered = named(inReplyTo);
  return answered.length === 1 ? answered : [];
}

/** Parses untrusted ids; drops those that are invalid in a header. */
function named(value: string | undefined): string[] {
  const ids = writtenIds(value ?? '').filter((id) => /^[!-;=?-~]{1,250}$/.test(id));
  return [...new Set(ids)].map((id) => `<${id}>`);
}
