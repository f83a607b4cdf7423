import { createHash, randomBytes } from 'node:crypto';
import { formatAddress, needsUtf8, type Address } from './address.ts';
import { field, letterHeader, oneLine, textEntity, type NamedAddress } from './compose.ts';
import { formatDate } from './date.ts';
import { decodeWords } from './encoded-word.ts';
import { firstField, readFields, unfold } from './header.ts';
import { ownId } from './msg-id.ts';
import { encodeQuotedPrintable } from './quoted-printable.ts';

/** What became of one recipient. RFC 3464 2.3. */
export interface RecipientReport {
  address: Address;
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  /** `5.1.1` */
  status: string;
  /** ORCPT as it was given, `rfc822;joe@box.test`, xtext decoded. */
  originalRecipient?: string;
  /** Name of the server that answered. */
  remoteMta?: string;
  /** Its answer, `550 5.1.1 no such user`, in its own words. */
  diagnostic?: string;
  /** ms UTC. */
  lastAttempt?: number;
  /** ms UTC, for a delay. */
  willRetryUntil?: number;
}

/** A delivery status notification to the sender of a message. */
export interface Bounce {
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
  /** ms UTC: when we took the message over. */
  arrivalDate?: number;
  /** The header block of the message that this is about. */
  originalHeader: Uint8Array;
}

/** As much of the original header as goes back. */
const QUOTED_MAX = 50_000;
const PEER_TEXT_MAX = 900;

/**
 * Writes the multipart/report of RFC 6522 and RFC 3464 with CRLF line ends: words for a person, fields for programs,
 * and the header of the original. The caller sends it with the null reverse-path, and never for a null reverse-path.
 * 7-bit all through, unless the sender's own address is not (RFC 6533 3 has a 7-bit form for the recipients).
 */
export function composeBounce(bounce: Bounce): Buffer {
  const original = originalFacts(bounce.originalHeader);
  const boundary = `=_${createHash('sha256').update(bounce.messageId).digest('hex').slice(0, 32)}`;
  const header = letterHeader({
    from: bounce.from,
    to: [{ address: bounce.to }],
    subject: subjectOf(bounce.recipients),
    date: bounce.date,
    messageId: bounce.messageId,
    headers: [
      ['Auto-Submitted', 'auto-replied'], // RFC 3834 5: nobody's vacation notice may answer this
      ...(original.messageId === '' ? [] : ([['References', original.messageId]] as [string, string][])),
    ],
  });
  const type = `multipart/report; report-type=delivery-status; boundary="${boundary}"`;
  const entities = [textEntity(explanation(bounce, original.subject)), statusEntity(bounce), original.entity];
  const body = entities.map((entity) => `--${boundary}\r\n${entity}\r\n`).join('');
  return Buffer.from(`${header}${field('Content-Type', type)}\r\n${body}--${boundary}--\r\n`);
}

/** What {@link successReport} tells: recipients who have the message already. */
export interface Success {
  hostname: string;
  to: Address;
  /** ms UTC. */
  now: number;
  envelopeId?: string;
  originalHeader: Uint8Array;
  /** `expanded`: it went on to other addresses. RFC 3461 5.2.7.3. */
  recipients: readonly { address: Address; expanded: boolean; originalRecipient?: string }[];
}

/** The report of a box that is both ends: delivered, as was asked. RFC 3461 5.2.6. */
export function successReport({ hostname, to, now, recipients, ...rest }: Success): Buffer {
  return composeBounce({
    ...rest,
    host: hostname,
    from: daemon(hostname),
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

/** Who reports. */
export function daemon(hostname: string): NamedAddress {
  return { name: 'Mail Delivery System', address: { local: 'mailer-daemon', domain: hostname } };
}

function subjectOf(recipients: readonly RecipientReport[]): string {
  if (recipients.some(({ action }) => action === 'failed')) return 'Your message could not be delivered';
  if (recipients.some(({ action }) => action === 'delayed')) return 'Your message is delayed, we keep trying';
  return 'Your message was delivered';
}

function originalFacts(header: Uint8Array): { subject: string; messageId: string; entity: string } {
  const bytes = Buffer.from(header.buffer, header.byteOffset, Math.min(header.byteLength, QUOTED_MAX));
  const fields = readFields(bytes.toString('latin1'));
  const own = ownId(firstField(fields, 'message-id'));
  // Whole fields only; what would not fit is left out.
  const cut = header.byteLength > QUOTED_MAX ? (fields.at(-1)?.start ?? 0) : (fields.at(-1)?.end ?? 0);
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

function statusEntity(bounce: Bounce): string {
  const message = [
    field('Reporting-MTA', `dns; ${sevenBit(bounce.host)}`),
    bounce.envelopeId === undefined ? '' : field('Original-Envelope-Id', sevenBit(bounce.envelopeId)),
    bounce.arrivalDate === undefined ? '' : field('Arrival-Date', formatDate(bounce.arrivalDate)),
  ].join('');
  return `Content-Type: message/delivery-status\r\n\r\n${message}${bounce.recipients.map(recipientFields).join('')}`;
}

/** RFC 3464 2.3: each recipient is a paragraph of its own. */
function recipientFields(report: RecipientReport): string {
  const type = needsUtf8(report.address) ? 'utf-8' : 'rfc822';
  return [
    '\r\n',
    report.originalRecipient === undefined ? '' : field('Original-Recipient', utf8Text(report.originalRecipient)),
    field('Final-Recipient', `${type}; ${utf8Text(formatAddress(report.address))}`),
    field('Action', report.action),
    field('Status', /^[245]\.\d{1,3}\.\d{1,3}$/.test(report.status) ? report.status : '5.0.0'),
    report.remoteMta === undefined ? '' : field('Remote-MTA', `dns; ${sevenBit(report.remoteMta)}`),
    report.diagnostic === undefined ? '' : field('Diagnostic-Code', `smtp; ${sevenBit(report.diagnostic)}`),
    report.lastAttempt === undefined ? '' : field('Last-Attempt-Date', formatDate(report.lastAttempt)),
    report.willRetryUntil === undefined ? '' : field('Will-Retry-Until', formatDate(report.willRetryUntil)),
  ].join('');
}

/** Words of a stranger in 7 bits on one line, in pieces that can be folded. */
function sevenBit(text: string): string {
  const line = oneLine(text)
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, PEER_TEXT_MAX);
  return line.replace(/[^ ]{200}/g, '$& ').trim();
}

/** RFC 6533 3, utf-8-addr-xtext: an internationalized address in 7 bits. */
function utf8Text(text: string): string {
  const line = oneLine(text).slice(0, PEER_TEXT_MAX);
  return line.replace(/[^\x20-\x7e]/gu, (char) => `\\x{${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`);
}

const REASONS: readonly [prefix: string, words: string][] = [
  ['5.1.1', 'There is no such mailbox. Check the address for a typing error, or ask the person for the right one.'],
  ['5.1.2', 'The domain does not take mail. Check the part behind the @ for a typing error.'],
  ['5.1.10', 'The domain says that it takes no mail at all. Check the part behind the @ for a typing error.'],
  ['5.2.2', 'The mailbox is full. Try again later, or reach the person another way.'],
  ['5.3.4', 'The message is too large for the other side. Send it without attachments, or share them by a link.'],
  ['5.2.3', 'The message is too large for the other side. Send it without attachments, or share them by a link.'],
  ['5.7', 'The other side refuses mail like this. Its answer below says why; its administrator can help.'],
  ['4', 'The other side could not be reached in time. Try again later, or reach the person another way.'],
  ['5.4', 'The other side could not be reached. Check the part behind the @, or try again later.'],
  ['', 'The other side refused the message. Its answer below says why.'],
];

function explanation(bounce: Bounce, subject: string): string {
  const about = subject === '' ? 'Your message' : `Your message "${subject}"`;
  const when = bounce.arrivalDate === undefined ? '' : ` of ${formatDate(bounce.arrivalDate)}`;
  const blocks = bounce.recipients.map((report) => recipientWords(report, bounce.host));
  return wrap(
    [
      `This is an automatic message from the mail server ${oneLine(bounce.host)}.`,
      `${about}${when} was for:`,
      ...blocks,
      'The technical details for your administrator are attached. There is no need to answer this message.',
    ].join('\n\n'),
  );
}

function recipientWords(report: RecipientReport, host: string): string {
  const answer =
    report.diagnostic === undefined
      ? ''
      : `\n\n  ${oneLine(report.remoteMta ?? host).slice(0, 255)} said:\n  ${oneLine(report.diagnostic).slice(0, PEER_TEXT_MAX).toWellFormed()}`;
  return `  ${formatAddress(report.address)}\n\n${verdict(report)}${answer}`;
}

function verdict(report: RecipientReport): string {
  switch (report.action) {
    case 'failed':
      return `It was not delivered. ${REASONS.find(([prefix]) => isBelow(report.status, prefix))?.[1] ?? ''}`;
    case 'delayed': {
      const until = report.willRetryUntil === undefined ? '' : ` until ${formatDate(report.willRetryUntil)}`;
      return `It is not delivered yet. We keep trying${until}; you need not send it again.`;
    }
    case 'relayed':
      return 'It was passed on to a server that sends no confirmations.';
    case 'expanded':
      return 'It was passed on to the addresses that this one stands for. Whether it arrives there is not told.';
    case 'delivered':
    default:
      return 'It was delivered.';
  }
}

function isBelow(status: string, prefix: string): boolean {
  return prefix === '' || status === prefix || status.startsWith(`${prefix}.`);
}

/** Breaks lines at blanks so that they fit a screen; an indent is kept. */
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
