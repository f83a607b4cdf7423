import { createHash, randomBytes } from 'node:crypto';
import { formatAddress, needsUtf8, type Address } from './address.ts';
import { formatField, messageHeader, oneLine, textEntity, type NamedAddress } from './compose-text.ts';
import { formatDate } from './date.ts';
import { decodeWords } from './encoded-word.ts';
import { firstField, readFields, unfold } from './header.ts';
import { ownId } from './msg-id.ts';
import { encodeQuotedPrintable } from './quoted-printable.ts';

/** Delivery status of one recipient. RFC 3464 2.3. */
export interface RecipientReport {
  address: Address;
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  /** Enhanced status code, `5.1.1`. */
  status: string;
  /** ORCPT as given, `rfc822;joe@box.test`, xtext decoded. */
  originalRecipient?: string;
  /** Name of the server that replied. */
  remoteMta?: string;
  /** Its reply, `550 5.1.1 no such user`, verbatim. */
  diagnostic?: string;
  /** ms UTC. */
  lastAttempt?: number;
  /** ms UTC, for `delayed`. */
  willRetryUntil?: number;
}

/** A delivery status notification to the sender of a message. */
export interface DeliveryReport {
  /** Our host name: Reporting-MTA. */
  host: string;
  from: NamedAddress;
  to: Address;
  /** ms UTC. */
  date: number;
  messageId: string;
  recipients: readonly RecipientReport[];
  /** ENVID as given, xtext decoded. */
  envelopeId?: string;
  /** Time of acceptance, ms UTC. */
  arrivalDate?: number;
  /** Header block of the original message. */
  originalHeader: Uint8Array;
}

/** Octets of the original header to return. */
const MAX_QUOTED_OCTETS = 50_000;
const MAX_REMOTE_CHARS = 900;

/**
 * Composes the multipart/report of RFC 6522 and RFC 3464 with CRLF line ends: explanation, status fields, and the original
 * header. The caller sends it with the null reverse-path, and never in reply to a null reverse-path. 7-bit, unless the
 * sender's own address is not (RFC 6533 3 has a 7-bit form for recipients).
 */
export function composeDeliveryReport(bounce: DeliveryReport): Buffer {
  const original = readOriginalHeader(bounce.originalHeader);
  const boundary = `=_${createHash('sha256').update(bounce.messageId).digest('hex').slice(0, 32)}`;
  const header = messageHeader({
    from: bounce.from,
    to: [{ address: bounce.to }],
    subject: subjectOf(bounce.recipients),
    date: bounce.date,
    messageId: bounce.messageId,
    headers: [
      ['Auto-Submitted', 'auto-replied'], // RFC 3834 5: suppresses vacation replies
      ...(original.messageId === '' ? [] : ([['References', original.messageId]] as [string, string][])),
    ],
  });
  const type = `multipart/report; report-type=delivery-status; boundary="${boundary}"`;
  const entities = [textEntity(explanation(bounce, original.subject)), statusEntity(bounce), original.entity];
  const body = entities.map((entity) => `--${boundary}\r\n${entity}\r\n`).join('');
  return Buffer.from(`${header}${formatField('Content-Type', type)}\r\n${body}--${boundary}--\r\n`);
}

/** Input of {@link composeSuccessReport}. */
export interface SuccessReportContent {
  hostname: string;
  to: Address;
  /** ms UTC. */
  now: number;
  envelopeId?: string;
  originalHeader: Uint8Array;
  /** `expanded`: the message was sent to other addresses. RFC 3461 5.2.7.3. */
  recipients: readonly { address: Address; expanded: boolean; originalRecipient?: string }[];
}

/** Composes the report of a local delivery, requested by NOTIFY=SUCCESS. RFC 3461 5.2.6. */
export function composeSuccessReport({ hostname, to, now, recipients, ...rest }: SuccessReportContent): Buffer {
  return composeDeliveryReport({
    ...rest,
    host: hostname,
    from: mailerDaemon(hostname),
    to,
    date: now,
    messageId: `<${randomBytes(16).toString('hex')}@${hostname}>`,
    arrivalDate: now,
    recipients: recipients.map(({ expanded, ...about }) => ({
      ...about,
      action: expanded ? 'expanded' : 'delivered',
      status: '2.1.5',
    })),
  });
}

/** Author of delivery reports. */
export function mailerDaemon(hostname: string): NamedAddress {
  return { name: 'Mail Delivery System', address: { local: 'mailer-daemon', domain: hostname } };
}

function subjectOf(recipients: readonly RecipientReport[]): string {
  if (recipients.some(({ action }) => action === 'failed')) return 'Your message could not be delivered';
  if (recipients.some(({ action }) => action === 'delayed')) return 'Your message is delayed, we keep trying';
  return 'Your message was delivered';
}

function readOriginalHeader(header: Uint8Array): { subject: string; messageId: string; entity: string } {
  const bytes = Buffer.from(header.buffer, header.byteOffset, Math.min(header.byteLength, MAX_QUOTED_OCTETS));
  const fields = readFields(bytes.toString('latin1'));
  const own = ownId(firstField(fields, 'message-id'));
  // Whole fields only.
  const cut = header.byteLength > MAX_QUOTED_OCTETS ? (fields.at(-1)?.start ?? 0) : (fields.at(-1)?.end ?? 0);
  return {
    subject: oneLine(decodeWords(unfold(firstField(fields, 'subject') ?? '')))
      .slice(0, 200)
      .toWellFormed(),
    messageId: /^[\x21-\x7e]{1,500}$/.test(own) ? `<${own}>` : '',
    entity: headersEntity(bytes.subarray(0, cut)),
  };
}

function headersEntity(bytes: Buffer): string {
  const text = bytes.toString('latin1').replace(/\r?\n|\r/g, '\r\n');
  const plain = /^[\t\r\n\x20-\x7e]*$/.test(text) && text.split('\r\n').every((line) => line.length <= 998);
  const encoding = plain ? '7bit' : 'quoted-printable';
  const body = plain ? text : encodeQuotedPrintable(Buffer.from(text, 'latin1'));
  return `Content-Type: text/rfc822-headers\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`;
}

function statusEntity(bounce: DeliveryReport): string {
  const message = [
    formatField('Reporting-MTA', `dns; ${sevenBit(bounce.host)}`),
    bounce.envelopeId === undefined ? '' : formatField('Original-Envelope-Id', sevenBit(bounce.envelopeId)),
    bounce.arrivalDate === undefined ? '' : formatField('Arrival-Date', formatDate(bounce.arrivalDate)),
  ].join('');
  return `Content-Type: message/delivery-status\r\n\r\n${message}${bounce.recipients.map(recipientFields).join('')}`;
}

/** Formats the fields of one recipient. RFC 3464 2.3. */
function recipientFields(report: RecipientReport): string {
  const type = needsUtf8(report.address) ? 'utf-8' : 'rfc822';
  return [
    '\r\n',
    report.originalRecipient === undefined ? '' : formatField('Original-Recipient', utf8Text(report.originalRecipient)),
    formatField('Final-Recipient', `${type}; ${utf8Text(formatAddress(report.address))}`),
    formatField('Action', report.action),
    formatField('Status', /^[245]\.\d{1,3}\.\d{1,3}$/.test(report.status) ? report.status : '5.0.0'),
    report.remoteMta === undefined ? '' : formatField('Remote-MTA', `dns; ${sevenBit(report.remoteMta)}`),
    report.diagnostic === undefined ? '' : formatField('Diagnostic-Code', `smtp; ${sevenBit(report.diagnostic)}`),
    report.lastAttempt === undefined ? '' : formatField('Last-Attempt-Date', formatDate(report.lastAttempt)),
    report.willRetryUntil === undefined ? '' : formatField('Will-Retry-Until', formatDate(report.willRetryUntil)),
  ].join('');
}

/** Sanitizes remote text to one foldable 7-bit line. */
function sevenBit(text: string): string {
  const line = oneLine(text)
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, MAX_REMOTE_CHARS);
  return line.replace(/[^ ]{200}/g, '$& ').trim();
}

/** RFC 6533 3, utf-8-addr-xtext: an internationalized address in 7 bits. */
function utf8Text(text: string): string {
  const line = oneLine(text).slice(0, MAX_REMOTE_CHARS);
  return line.replace(/[^\x20-\x7e]/gu, (char) => `\\x{${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`);
}

const EXPLANATIONS: readonly [prefix: string, words: string][] = [
  ['5.1.1', 'There is no such mailbox. Check the address for a typing error, or ask the person for the right one.'],
  ['5.1.2', 'The domain does not accept mail. Check the part after the @ for a typing error.'],
  ['5.1.10', 'The domain states that it accepts no mail (null MX). Check the part after the @ for a typing error.'],
  ['5.2.2', 'The mailbox is full. Try again later, or contact the person another way.'],
  ['5.3.4', 'The message is too large for the receiving server. Send it without attachments, or share them by a link.'],
  ['5.2.3', 'The message is too large for the receiving server. Send it without attachments, or share them by a link.'],
  ['5.7', 'The receiving server rejected the message. Its reply below gives the reason; its administrator can help.'],
  ['4', 'The receiving server could not be reached in time. Try again later, or contact the person another way.'],
  ['5.4', 'The receiving server could not be reached. Check the part after the @, or try again later.'],
  ['', 'The receiving server rejected the message. Its reply below gives the reason.'],
];

function explanation(bounce: DeliveryReport, subject: string): string {
  const about = subject === '' ? 'Your message' : `Your message "${subject}"`;
  const when = bounce.arrivalDate === undefined ? '' : ` of ${formatDate(bounce.arrivalDate)}`;
  const blocks = bounce.recipients.map((report) => recipientText(report, bounce.host));
  return wrap(
    [
      `This is an automatic message from the mail server ${oneLine(bounce.host)}.`,
      `${about}${when} was for:`,
      ...blocks,
      'The technical details for your administrator are attached. There is no need to reply to this message.',
    ].join('\n\n'),
  );
}

function recipientText(report: RecipientReport, host: string): string {
  const answer =
    report.diagnostic === undefined
      ? ''
      : `\n\n  ${oneLine(report.remoteMta ?? host).slice(0, 255)} said:\n  ${oneLine(report.diagnostic).slice(0, MAX_REMOTE_CHARS).toWellFormed()}`;
  return `  ${formatAddress(report.address)}\n\n${actionText(report)}${answer}`;
}

function actionText(report: RecipientReport): string {
  switch (report.action) {
    case 'failed':
      return `It was not delivered. ${EXPLANATIONS.find(([prefix]) => isBelow(report.status, prefix))?.[1] ?? ''}`;
    case 'delayed': {
      const until = report.willRetryUntil === undefined ? '' : ` until ${formatDate(report.willRetryUntil)}`;
      return `It is not delivered yet. We keep trying${until}; you do not need to send it again.`;
    }
    case 'relayed':
      return 'It was relayed to a server that sends no delivery confirmations.';
    case 'expanded':
      return 'It was forwarded to the addresses behind this one. You get no report on their delivery.';
    case 'delivered':
    default:
      return 'It was delivered.';
  }
}

function isBelow(status: string, prefix: string): boolean {
  return prefix === '' || status === prefix || status.startsWith(`${prefix}.`);
}

/** Wraps lines at blanks to 74 columns; keeps an indent. */
function wrap(text: string): string {
  return text.split('\n').map(wrapLine).join('\n');
}

function wrapLine(line: string): string {
  const indent = line.startsWith('  ') ? '  ' : '';
  let out = '';
  let column = 0;
  for (const word of line.trim().split(' ')) {
    const fits = column > 0 && column + 1 + word.length <= 74;
    out += column === 0 ? indent + word : fits ? ` ${word}` : `\n${indent}${word}`;
    column = fits ? column + 1 + word.length : indent.length + word.length;
  }
  return out;
}
