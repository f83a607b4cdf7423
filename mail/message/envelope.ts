import { domainToASCII } from 'node:url';
import { guessLatin1, isSevenBit } from './decode.ts';
import { decodeWords } from './encoded-word.ts';
import { parseAddressList, type HeaderAddress } from './header-addresses.ts';
import { unfold, type Field } from './header.ts';
import { LIMITS } from './limits.ts';
import { casemap } from './subject.ts';
import { imapNstring } from './wire-string.ts';

/** Remaining addresses to read, shared by all address fields of a message and its attached messages. */
export interface AddressBudget {
  left: number;
}

/** ENVELOPE fields, unfolded, not decoded, read as latin1. */
export interface EnvelopeFields {
  date?: string;
  subject?: string;
  inReplyTo?: string;
  messageId?: string;
  from: HeaderAddress[];
  sender: HeaderAddress[];
  replyTo: HeaderAddress[];
  to: HeaderAddress[];
  cc: HeaderAddress[];
  bcc: HeaderAddress[];
}

/**
 * Collects the ENVELOPE fields of a header. The first of a repeated field counts; repeated To, Cc and Bcc fields are
 * merged.
 */
export function envelopeFields(fields: readonly Field[], budget: AddressBudget): EnvelopeFields {
  const out: EnvelopeFields = { from: [], sender: [], replyTo: [], to: [], cc: [], bcc: [] };
  for (const { name, value } of fields) {
    switch (name) {
      case 'date':
        out.date ??= unfold(value);
        break;
      case 'subject':
        out.subject ??= unfold(value);
        break;
      case 'in-reply-to':
        out.inReplyTo ??= unfold(value);
        break;
      case 'message-id':
        out.messageId ??= unfold(value);
        break;
      case 'from':
        if (out.from.length === 0) out.from = addresses(value, budget);
        break;
      case 'sender':
        if (out.sender.length === 0) out.sender = addresses(value, budget);
        break;
      case 'reply-to':
        if (out.replyTo.length === 0) out.replyTo = addresses(value, budget);
        break;
      case 'to':
      case 'cc':
      case 'bcc':
        out[name] = out[name].concat(addresses(value, budget));
        break;
      default:
    }
  }
  return out;
}

function addresses(value: string, budget: AddressBudget): HeaderAddress[] {
  // Reads one more than allowed to detect excess; `left` is then below zero.
  const found = parseAddressList(value.slice(0, LIMITS.field), budget.left + 1);
  if (found.length > budget.left) {
    budget.left = -1;
    return found.slice(0, -1);
  }
  budget.left -= found.length;
  return found;
}

/** Formats ENVELOPE. A missing or empty Sender or Reply-To defaults to From. RFC 3501 7.4.2. */
export function formatEnvelope(fields: EnvelopeFields): string {
  const from = addressStructure(fields.from);
  const lists = [
    from,
    fields.sender.length === 0 ? from : addressStructure(fields.sender),
    fields.replyTo.length === 0 ? from : addressStructure(fields.replyTo),
    addressStructure(fields.to),
    addressStructure(fields.cc),
    addressStructure(fields.bcc),
  ];
  const ids = `${imapNstring(fields.inReplyTo)} ${imapNstring(fields.messageId)}`;
  return `(${imapNstring(fields.date)} ${imapNstring(fields.subject)} ${lists.join(' ')} ${ids})`;
}

/** Formats addresses with their source routes (RFC 3501 7.4.2), and an empty list as NIL, never `()`: Apple's parser drops the connection on it. */
function addressStructure(list: readonly HeaderAddress[]): string {
  if (list.length === 0) return 'NIL';
  let out = '(';
  for (const { name, route, mailbox, host } of list) {
    const domain = host === undefined || isSevenBit(host) ? host : domainToASCII(guessLatin1(host)) || host;
    out += `(${imapNstring(name)} ${imapNstring(route)} ${imapNstring(mailbox)} ${imapNstring(domain)})`;
  }
  return `${out})`;
}

/** Returns the SORT key: the mailbox name of the first address. RFC 5256 3. */
export function sortKey(list: readonly HeaderAddress[]): string {
  return casemap(cut(guessLatin1(list[0]?.mailbox ?? '')));
}

/** Returns the SORT=DISPLAY key: the display name of the first address, else the address. RFC 5957 3. */
export function displayKey(list: readonly HeaderAddress[]): string {
  const first = list[0];
  if (first === undefined) return '';
  const name = first.name === undefined ? '' : decodeWords(first.name).trim();
  if (name !== '') return casemap(cut(name));
  const mailbox = guessLatin1(first.mailbox ?? '');
  return casemap(cut(first.host ? `${mailbox}@${guessLatin1(first.host)}` : mailbox));
}

/** Truncates a key, which is an index column. */
function cut(text: string): string {
  return text.slice(0, 256).toWellFormed();
}
