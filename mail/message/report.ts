import { parseAddress, textKey, type Address } from './address.ts';
import { oneLine } from './compose-text.ts';
import { decodeCharset, decodeTransfer } from './decode.ts';
import { decodeWords } from './encoded-word.ts';
import { type Field, firstField, readFields, unfold } from './header.ts';
import type { Part } from './parts.ts';

/** Status of one recipient in a received report. RFC 3464 2.3. */
export interface ReportedStatus {
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  /** Enhanced status code, `5.1.1`. */
  status: string;
  /** Diagnostic text, sanitized to one line; '' for none. */
  text: string;
  /** Reporting server; '' for none. */
  host: string;
  /** Keys of the recipient addresses. */
  about: readonly string[];
}

/** Parsed bounce or complaint. All content is untrusted. */
export type ParsedReport =
  | { kind: 'status'; all: readonly ReportedStatus[] }
  /** Feedback report, RFC 5965: `abuse`, `not-spam`. */
  | { kind: 'feedback'; type: string }
  /** Bounce in prose only: the beginning of its text. */
  | { kind: 'words'; text: string };

/** Octets read of a report. */
export const MAX_REPORT_OCTETS = 256 * 1024;
const MAX_RECIPIENTS = 100;
const MAX_FIELDS = 2000;
const MAX_TEXT_CHARS = 500;
const MAX_PROSE_OCTETS = 16 * 1024;
const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;
/** Enhanced status code that is no part of an IP address or version. RFC 3463 2. */
const STATUS = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?!\.?\d)/;

/** Parses a report from its first octets and part table. Never throws on damaged input. */
export function readReport(octets: Buffer, parts: readonly Part[]): ParsedReport {
  const [root] = parts;
  if (root?.type === 'multipart' && root.subtype === 'report') {
    const feedback = ofType(parts, 'feedback-report');
    if (feedback !== undefined) return { kind: 'feedback', type: feedbackType(fieldsOf(octets, feedback)) };
    // RFC 6533 3: the UTF-8 form.
    const status = ofType(parts, 'delivery-status') ?? ofType(parts, 'global-delivery-status');
    if (status !== undefined) return { kind: 'status', all: statuses(bodyOf(octets, status)) };
  }
  const words = parts.find((part) => part.type === 'text');
  if (words === undefined) return { kind: 'words', text: '' };
  const text = decodeCharset(bodyOf(octets, words).subarray(0, MAX_PROSE_OCTETS), words.charset);
  return { kind: 'words', text };
}

/**
 * Finds the envelope senders of the reported message in the report, for reports that are not sent to that address, such
 * as complaints. RFC 5965 3.2.
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
 * Finds the status of one recipient; undefined if ambiguous. Statuses of other addresses belong to a list or alias behind
 * the recipient: they count only if all agree.
 */
export function statusFor(report: ParsedReport, recipient: string): ReportedStatus | undefined {
  if (report.kind === 'words') return statusFromProse(report.text, recipient);
  if (report.kind === 'feedback') return undefined;
  const own = report.all.filter(({ about }) => about.includes(textKey(recipient)));
  const all = own.length > 0 ? own : report.all;
  const [first] = all;
  return all.every(({ action }) => action === first?.action) ? first : undefined;
}

/** Parses a prose bounce: it must name the recipient and contain a 5.x.x status code. */
function statusFromProse(text: string, recipient: string): ReportedStatus | undefined {
  const line = text.split('\n').find((one) => STATUS.exec(one)?.[1]?.startsWith('5.') === true);
  const status = line === undefined ? undefined : STATUS.exec(line)?.[1];
  if (line === undefined || status === undefined || !text.toLowerCase().includes(recipient.toLowerCase()))
    return undefined;
  return { action: 'failed', status, text: clean(line), host: '', about: [] };
}

function statuses(body: Buffer): ReportedStatus[] {
  const groups = body.toString('latin1').split(/\r?\n[\t ]*\r?\n/, MAX_RECIPIENTS + 1);
  return groups.flatMap((group) => statusOf(readFields(group.replace(/^(?:\r?\n)+/, ''), MAX_FIELDS)) ?? []);
}

/** Parses one group of a delivery-status; undefined for the first, which is about the message. */
function statusOf(fields: readonly Field[]): ReportedStatus | undefined {
  const value = (name: string): string => clean(decodeWords(unfold(firstField(fields, name) ?? '')));
  const text = behindType(value('diagnostic-code'));
  const stated = STATUS.exec(value('status'))?.[1];
  // x.0.0 is generic: prefers the code in the diagnostic text.
  const status = stated === undefined || /^[245]\.0\.0$/.test(stated) ? (STATUS.exec(text)?.[1] ?? stated) : stated;
  const word = value('action').split(' ')[0]?.toLowerCase();
  const action = ACTIONS.find((one) => one === word);
  const about = ['original-recipient', 'final-recipient'].map((name) => textKey(behindType(value(name))));
  if (action === undefined || status === undefined) return undefined;
  return { action, status, text, host: behindType(value('remote-mta')).slice(0, 255), about };
}

/** Removes the type of `smtp; 550 no`. RFC 3464 2.3. */
function behindType(text: string): string {
  return text.replace(/^[\w-]{1,40}\s*;\s*/, '');
}

function feedbackType(fields: readonly Field[]): string {
  return clean(unfold(firstField(fields, 'feedback-type') ?? ''))
    .toLowerCase()
    .slice(0, 40);
}

/** Sanitizes untrusted text to one line without control and bidi characters. */
function clean(text: string): string {
  const line = oneLine(text).replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '');
  return line.slice(0, MAX_TEXT_CHARS).toWellFormed();
}

function ofType(parts: readonly Part[], subtype: string): Part | undefined {
  return parts.find((part) => part.type === 'message' && part.subtype === subtype);
}

function every(fields: readonly Field[], name: string): string[] {
  return fields.filter((field) => field.name === name).map(({ value }) => unfold(value));
}

function fieldsOf(octets: Buffer, part: Part): Field[] {
  return readFields(bodyOf(octets, part).toString('latin1'), MAX_FIELDS);
}

function bodyOf(octets: Buffer, { bodyOffset, bodyLength, encoding }: Part): Buffer {
  return decodeTransfer(octets.subarray(bodyOffset, bodyOffset + bodyLength), encoding);
}
