import { randomBytes } from 'node:crypto';
import { type Address, formatAddress } from './address.ts';
import { formatField, messageHeader, type NamedAddress, oneLine, textEntity } from './compose-text.ts';
import { decodeCharset, decodeTransfer } from './decode.ts';
import { decodeWords } from './encoded-word.ts';
import { firstField, readFields, unfold } from './header.ts';
import { indexMessage } from './indexer.ts';
import { type Part, unpackParts } from './parts.ts';

export const ACTION_MODES = ['manual-action', 'automatic-action'] as const;
export const SENDING_MODES = ['mdn-sent-manually', 'mdn-sent-automatically'] as const;
export const DISPOSITION_TYPES = ['deleted', 'dispatched', 'displayed', 'processed'] as const;

/** Disposition of a message. RFC 8098 3.2.6. */
export interface Disposition {
  actionMode: (typeof ACTION_MODES)[number];
  sendingMode: (typeof SENDING_MODES)[number];
  type: (typeof DISPOSITION_TYPES)[number];
}

/** Fields of a disposition notification. RFC 8098 3.1. Single-line texts; '' if missing. */
export interface Receipt {
  reportingUa: string;
  gateway: string;
  originalRecipient: string;
  finalRecipient: string;
  /** With angle brackets. */
  originalMessageId: string;
  disposition: Disposition;
  errors: readonly string[];
  extensions: Readonly<Record<string, string>>;
}

/** Disposition notification to send. */
export interface Mdn extends Receipt {
  from: NamedAddress;
  to: readonly Address[];
  subject: string;
  text: string;
  /** ms UTC. */
  date: number;
  /** With angle brackets. */
  messageId: string;
  /** Octets of the original message; null: not returned. */
  original: Buffer | null;
}

/** Composes a multipart/report of RFC 8098 with CRLF line ends. */
export function composeMdn(mdn: Mdn): Buffer {
  const { from, to, subject, date, messageId, text, original } = mdn;
  const headers: [string, string][] = [
    ['Auto-Submitted', 'auto-replied'],
    ...(mdn.originalMessageId === '' ? [] : ([['References', mdn.originalMessageId]] as [string, string][])),
  ];
  const named = to.map((address) => ({ address }));
  const header = messageHeader({ from, to: named, subject, date, messageId, headers });
  const boundary = `=_${randomBytes(18).toString('hex')}`;
  const type = `multipart/report; report-type=disposition-notification; boundary="${boundary}"`;
  const begin = `${header}${formatField('Content-Type', type)}\r\n`;
  const parts = [textEntity(text), `Content-Type: message/disposition-notification\r\n\r\n${receiptFields(mdn)}`];
  const first = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('');
  const last = original === null ? [] : [`--${boundary}\r\nContent-Type: message/rfc822\r\n\r\n`, original, '\r\n'];
  return Buffer.concat([begin, first, ...last, `--${boundary}--\r\n`].map((one) => Buffer.from(one)));
}

function receiptFields(receipt: Receipt): string {
  const { actionMode, sendingMode, type } = receipt.disposition;
  const all: [string, string][] = [
    ['Reporting-UA', receipt.reportingUa],
    ['MDN-Gateway', receipt.gateway],
    ['Original-Recipient', receipt.originalRecipient],
    ['Final-Recipient', receipt.finalRecipient],
    ['Original-Message-ID', receipt.originalMessageId],
    ['Disposition', `${actionMode}/${sendingMode}; ${type}`],
    ...receipt.errors.map((error): [string, string] => ['Error', error]),
    ...Object.entries(receipt.extensions),
  ];
  return all.flatMap(([name, value]) => (value === '' ? [] : [formatField(name, oneLine(value))])).join('');
}

/** Received disposition notification. */
export interface ReceivedMdn extends Receipt {
  subject: string;
  text: string;
  hasOriginal: boolean;
}

const KNOWN = new Set([
  'reporting-ua',
  'mdn-gateway',
  'original-recipient',
  'final-recipient',
  'original-message-id',
  'disposition',
  'error',
  '',
]);
const MAX_FIELDS = 200;
const MAX_TEXT_OCTETS = 64 * 1024;

/** Parses a disposition notification; undefined if the message is none. Never throws on untrusted input. RFC 8098 3. */
export function readMdn(octets: Buffer): ReceivedMdn | undefined {
  const index = indexMessage(octets);
  const parts = unpackParts(index.parts);
  const receipt = parts.find((part) => part.type === 'message' && part.subtype === 'disposition-notification');
  const fields = receipt === undefined ? [] : readFields(bodyOf(octets, receipt).toString('latin1'), MAX_FIELDS);
  const value = (name: string): string => clean(firstField(fields, name) ?? '');
  const disposition = readDisposition(value('disposition'));
  const finalRecipient = value('final-recipient');
  if (disposition === undefined || finalRecipient === '') return undefined;
  const words = parts.find((part) => part.type === 'text' && part.subtype === 'plain');
  return {
    subject: index.subject,
    text: words === undefined ? '' : decodeCharset(bodyOf(octets, words).subarray(0, MAX_TEXT_OCTETS), words.charset),
    hasOriginal: parts.some((part) => part.type === 'message' && part.subtype === 'rfc822'),
    reportingUa: value('reporting-ua'),
    gateway: value('mdn-gateway'),
    originalRecipient: value('original-recipient'),
    finalRecipient,
    originalMessageId: value('original-message-id'),
    disposition,
    errors: fields.filter(({ name }) => name === 'error').map((one) => clean(one.value)),
    extensions: Object.fromEntries(
      fields.flatMap((one) => (KNOWN.has(one.name) ? [] : [[one.name, clean(one.value)]])),
    ),
  };
}

/** Parses `manual-action/MDN-sent-manually; displayed/error`, with optional comments. */
function readDisposition(value: string): Disposition | undefined {
  const [modes = '', types = ''] = value
    .toLowerCase()
    .replace(/\([^()]*\)/g, '')
    .split(';');
  const [action = '', sending = ''] = modes.split('/').map((one) => one.trim());
  const type = types.split(/[/,]/)[0]?.trim();
  const found = {
    actionMode: ACTION_MODES.find((one) => one === action),
    sendingMode: SENDING_MODES.find((one) => one === sending),
    type: DISPOSITION_TYPES.find((one) => one === type),
  };
  const { actionMode, sendingMode, type: what } = found;
  if (actionMode === undefined || sendingMode === undefined || what === undefined) return undefined;
  return { actionMode, sendingMode, type: what };
}

function clean(value: string): string {
  return oneLine(decodeWords(unfold(value)))
    .slice(0, 998)
    .toWellFormed();
}

function bodyOf(octets: Buffer, { bodyOffset, bodyLength, encoding }: Part): Buffer {
  return decodeTransfer(octets.subarray(bodyOffset, bodyOffset + bodyLength), encoding);
}

/** Formats a recipient for Final-Recipient and Original-Recipient. */
export function recipientField(address: Address): string {
  return `rfc822; ${formatAddress(address)}`;
}
