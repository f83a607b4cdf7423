import type { Address } from '../message/address.ts';
import { composeMessage } from '../message/compose-message.ts';
import { type Field, firstField, unfold } from '../message/header.ts';
import { htmlText } from '../message/html-text.ts';
import { messageIds, ownId } from '../message/msg-id.ts';
import type { Vacation } from '../store/submission/vacation.ts';

/** Text of a reply without a configured one. */
const DEFAULT_TEXT = 'I am away and will read your message when I am back.';
const MAX_SUBJECT_CHARACTERS = 500;
/** Ids in References: the first and the newest of the thread. */
const MAX_REFERENCES = 20;

/** The participants and the original message of a vacation reply. */
export interface VacationReplyInput {
  from: { name: string; address: Address };
  to: Address;
  /** Header fields of the original message. */
  fields: readonly Field[];
  /** Decoded subject of the original message. */
  subject: string;
  vacation: Vacation;
  /** ms UTC. */
  now: number;
  /** Without angle brackets. */
  id: string;
}

/** Composes a vacation reply, marked so that no program answers it. RFC 3834 3.1. */
export function composeVacation({ from, to, fields, subject, vacation, now, id }: VacationReplyInput): Buffer {
  const { textBody, htmlBody } = vacation;
  return composeMessage({
    from,
    to: [{ address: to }],
    cc: [],
    replyTo: [],
    // RFC 3834 3.1.5
    subject: vacation.subject ?? `Auto: ${subject.slice(0, MAX_SUBJECT_CHARACTERS)}`.trim(),
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
  const thread = messageIds(unfold(firstField(fields, 'references') ?? firstField(fields, 'in-reply-to') ?? ''));
  const references =
    thread.length > MAX_REFERENCES ? [...thread.slice(0, 1), ...thread.slice(-MAX_REFERENCES)] : thread;
  // Ids with other characters would be encoded and become invalid.
  const all = [...references, own].filter((one) => /^[\x21-\x7e]{1,200}$/.test(one)).map((one) => `<${one}>`);
  const last = all.at(-1);
  return last === undefined
    ? []
    : [
        ['In-Reply-To', last],
        ['References', all.join(' ')],
      ];
}
