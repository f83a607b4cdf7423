import type { Address } from '../message/address.ts';
import { composeMessage } from '../message/compose-message.ts';
import { type Field, firstField, unfold } from '../message/header.ts';
import { htmlText } from '../message/html-text.ts';
import { messageIds, ownId } from '../message/msg-id.ts';
import type { Vacation } from '../store/vacation.ts';

/** What an answer says where its person said nothing. */
const DEFAULT_TEXT = 'I am away at the moment and will read your message when I am back.';
const LONGEST_SUBJECT = 500;
/** Of the thread's ids, the first and the newest. */
const MOST_REFERENCES = 20;

/** Who answers whom, and what. */
export interface Answering {
  from: { name: string; address: Address };
  to: Address;
  /** Of the message that is answered. */
  fields: readonly Field[];
  /** Its own, decoded. */
  subject: string;
  vacation: Vacation;
  /** ms UTC. */
  now: number;
  /** Without angle brackets. */
  id: string;
}

/** Writes an answer that no program answers. RFC 3834 3.1. */
export function composeVacation({ from, to, fields, subject, vacation, now, id }: Answering): Buffer {
  const { textBody, htmlBody } = vacation;
  return composeMessage({
    from,
    to: [{ address: to }],
    cc: [],
    replyTo: [],
    // RFC 3834 3.1.5
    subject: vacation.subject ?? `Auto: ${subject.slice(0, LONGEST_SUBJECT)}`.trim(),
    date: now,
    messageId: `<${id}@${from.address.domain}>`,
    text: textBody ?? (htmlBody === null ? DEFAULT_TEXT : htmlText(htmlBody, htmlBody.length).trim()),
    html: htmlBody ?? undefined,
    attachments: [],
    headers: [['Auto-Submitted', 'auto-replied'], ...threadFields(fields), ['X-Auto-Response-Suppress', 'All']],
  });
}

/** RFC 3834 3.1.4, RFC 5322 3.6.4. */
function threadFields(fields: readonly Field[]): [string, string][] {
  const own = ownId(firstField(fields, 'message-id'));
  if (own === '') return [];
  const before = messageIds(unfold(firstField(fields, 'references') ?? firstField(fields, 'in-reply-to') ?? ''));
  const kept = before.length > MOST_REFERENCES ? [...before.slice(0, 1), ...before.slice(-MOST_REFERENCES)] : before;
  // Ids that a stranger wrote with other characters would be encoded and be no ids any more.
  const all = [...kept, own].filter((one) => /^[\x21-\x7e]{1,200}$/.test(one)).map((one) => `<${one}>`);
  const last = all.at(-1);
  return last === undefined
    ? []
    : [
        ['In-Reply-To', last],
        ['References', all.join(' ')],
      ];
}
