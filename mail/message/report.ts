import { parseAddress, textKey, type Address } from './address.ts';
import { oneLine } from './compose.ts';
import { decodeCharset, decodeTransfer } from './decode.ts';
import { decodeWords } from './encoded-word.ts';
import { type Field, firstField, readFields, unfold } from './header.ts';
import type { Part } from './parts.ts';

/** What became of one recipient, in the words of a report. RFC 3464 2.3. */
export interface ReportedStatus {
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  /** `5.1.1` */
  status: string;
  /** One clean line, '' for none. */
  text: string;
  /** The server that said it, '' for none. */
  host: string;
  /** The addresses that it is about, as they are looked up. */
  about: readonly string[];
}

/** What a message that came back says. Everything in it was written by strangers. */
export type Report =
  | { kind: 'status'; all: readonly ReportedStatus[] }
  /** RFC 5965: `abuse`, `not-spam`. */
  | { kind: 'feedback'; type: string }
  /** No report that programs can read: the beginning of its words. */
  | { kind: 'words'; text: string };

/** As many octets of a report as are looked at. */
export const REPORT_MAX = 256 * 1024;
const MOST_RECIPIENTS = 100;
const MOST_FIELDS = 2000;
const LONGEST_TEXT = 500;
const LONGEST_WORDS = 16 * 1024;
const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;
/** An enhanced status code, and no piece of an IP address or a version. RFC 3463 2. */
const STATUS = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?!\.?\d)/;

/** Reads a message by its first octets and its parts. Never throws; what is damaged says less. */
export function readReport(octets: Buffer, parts: readonly Part[]): Report {
  const [root] = parts;
  if (root?.type === 'multipart' && root.subtype === 'report') {
    const feedback = ofType(parts, 'feedback-report');
    if (feedback !== undefined) return { kind: 'feedback', type: feedbackType(fieldsOf(octets, feedback)) };
    // RFC 6533 3: the same in UTF-8.
    const status = ofType(parts, 'delivery-status') ?? ofType(parts, 'global-delivery-status');
    if (status !== undefined) return { kind: 'status', all: statuses(bodyOf(octets, status)) };
  }
  const words = parts.find((part) => part.type === 'text');
  if (words === undefined) return { kind: 'words', text: '' };
  const text = decodeCharset(bodyOf(octets, words).subarray(0, LONGEST_WORDS), words.charset);
  return { kind: 'words', text };
}

/**
 * Addresses under which the reported message had left, as far as a report quotes it: for reports that do not come to
 * that address, such as those of complaints. RFC 5965 3.2.
 */
export function quotedSenders(octets: Buffer, parts: readonly Part[]): Address[] {
  const feedback = ofType(parts, 'feedback-report');
  const named = feedback === undefined ? [] : every(fieldsOf(octets, feedback), 'original-mail-from');
  const quoted = parts.find(
    ({ path, type, subtype }) =>
      path !== '' &&
      ((type === 'message' && subtype === 'rfc822') || (type === 'text' && subtype === 'rfc822-headers')),
  );
  const paths = quoted === undefined ? [] : every(fieldsOf(octets, quoted), 'return-path');
  return [...named, ...paths].slice(0, 4).flatMap((text) => parseAddress(text.replace(/^<|>$/g, '')) ?? []);
}

/**
 * What a report says of one recipient; undefined when that is nothing certain. Several statuses that are not ours by
 * name are those of a list or an alias behind our recipient: then it failed only if all of them did.
 */
export function statusFor(report: Report, recipient: string): ReportedStatus | undefined {
  if (report.kind === 'words') return guessed(report.text, recipient);
  if (report.kind === 'feedback') return undefined;
  const own = report.all.filter(({ about }) => about.includes(textKey(recipient)));
  const all = own.length > 0 ? own : report.all;
  const [first] = all;
  return all.every(({ action }) => action === first?.action) ? first : undefined;
}

/** A bounce in words only: it has to name the recipient, and to have a code that says "never". */
function guessed(text: string, recipient: string): ReportedStatus | undefined {
  const line = text.split('\n').find((one) => STATUS.exec(one)?.[1]?.startsWith('5.') === true);
  const status = line === undefined ? undefined : STATUS.exec(line)?.[1];
  if (line === undefined || status === undefined || !text.toLowerCase().includes(recipient.toLowerCase()))
    return undefined;
  return { action: 'failed', status, text: clean(line), host: '', about: [] };
}

function statuses(body: Buffer): ReportedStatus[] {
  const groups = body.toString('latin1').split(/\r?\n[\t ]*\r?\n/, MOST_RECIPIENTS + 1);
  return groups.flatMap((group) => statusOf(readFields(group.replace(/^(?:\r?\n)+/, ''), MOST_FIELDS)) ?? []);
}

/** One paragraph of a delivery-status; undefined for the first, which is about the message. */
function statusOf(fields: readonly Field[]): ReportedStatus | undefined {
  const value = (name: string): string => clean(decodeWords(unfold(firstField(fields, name) ?? '')));
  const text = behindType(value('diagnostic-code'));
  const said = STATUS.exec(value('status'))?.[1];
  // "Failed" alone, where the answer of the server knows better.
  const status = said === undefined || /^[245]\.0\.0$/.test(said) ? (STATUS.exec(text)?.[1] ?? said) : said;
  const word = value('action').split(' ')[0]?.toLowerCase();
  const action = ACTIONS.find((one) => one === word);
  const about = ['original-recipient', 'final-recipient'].map((name) => textKey(behindType(value(name))));
  if (action === undefined || status === undefined) return undefined;
  return { action, status, text, host: behindType(value('remote-mta')).slice(0, 255), about };
}

/** `smtp; 550 no` without its type. RFC 3464 2.3. */
function behindType(text: string): string {
  return text.replace(/^[\w-]{1,40}\s*;\s*/, '');
}

function feedbackType(fields: readonly Field[]): string {
  return clean(unfold(firstField(fields, 'feedback-type') ?? ''))
    .toLowerCase()
    .slice(0, 40);
}

/** A stranger's words on one line that shows as it is written: no control characters, no marks that turn text around. */
function clean(text: string): string {
  const line = oneLine(text).replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '');
  return line.slice(0, LONGEST_TEXT).toWellFormed();
}

function ofType(parts: readonly Part[], subtype: string): Part | undefined {
  return parts.find((part) => part.type === 'message' && part.subtype === subtype);
}

function every(fields: readonly Field[], name: string): string[] {
  return fields.filter((field) => field.name === name).map(({ value }) => unfold(value));
}

function fieldsOf(octets: Buffer, part: Part): Field[] {
  return readFields(bodyOf(octets, part).toString('latin1'), MOST_FIELDS);
}

function bodyOf(octets: Buffer, { bodyOffset, bodyLength, encoding }: Part): Buffer {
  return decodeTransfer(octets.subarray(bodyOffset, bodyOffset + bodyLength), encoding);
}
