import { randomBytes } from 'node:crypto';
import {
  encodeText,
  formatField,
  formatNamed,
  messageHeader,
  type NamedAddress,
  oneLine,
  textEntity,
  textLines,
} from './compose-text.ts';
import { formatParameter } from './compose-parameter.ts';
import { encodeQuotedPrintable } from './quoted-printable.ts';

export interface ComposedAttachment {
  filename: string;
  /** `type/subtype`, without parameters. */
  contentType: string;
  content: Uint8Array;
  /** Without angle brackets; referenced in the HTML as `cid:`. Such a file is inline, not listed as an attachment. */
  contentId?: string | undefined;
}

export interface ComposedMessage {
  from: NamedAddress;
  to: readonly NamedAddress[];
  cc: readonly NamedAddress[];
  /** Bcc of a draft. Must never be set for mail that is sent; named so that no request sets it by accident. */
  draftBcc?: readonly NamedAddress[];
  replyTo: readonly NamedAddress[];
  subject: string;
  /** ms UTC. */
  date: number;
  /** With angle brackets. */
  messageId: string;
  text?: string | undefined;
  html?: string | undefined;
  attachments: readonly ComposedAttachment[];
  /** More header fields; values are text, encoded and folded here. */
  headers: readonly (readonly [name: string, value: string])[];
}

/**
 * Composes a whole message: multipart/alternative for text and HTML, multipart/related for inline files (RFC 2387),
 * multipart/mixed for attachments. CRLF line ends, ASCII only, no line over 998 octets.
 */
export function composeMessage(message: ComposedMessage): Buffer {
  const { cc, draftBcc = [], replyTo, headers } = message;
  const fields = [
    ...(cc.length === 0 ? [] : [formatField('Cc', cc.map(formatNamed).join(', '))]),
    ...(draftBcc.length === 0 ? [] : [formatField('Bcc', draftBcc.map(formatNamed).join(', '))]),
    ...(replyTo.length === 0 ? [] : [formatField('Reply-To', replyTo.map(formatNamed).join(', '))]),
    ...headers.map(([name, value]) => formatField(name, encodeText(value))),
  ];
  return Buffer.from(`${head(message)}${fields.join('')}${entity(message)}`);
}

/** Formats the header; without To it has an empty group. RFC 5322 3.6.3. */
function head(message: ComposedMessage): string {
  const header = messageHeader({ ...message, headers: [] });
  return message.to.length > 0 ? header : header.replace(/^To:[^\r]*\r\n/m, 'To: undisclosed-recipients:;\r\n');
}

function entity({ text, html, attachments }: ComposedMessage): string {
  const shown = html === undefined ? [] : attachments.filter((one) => one.contentId !== undefined);
  const listed = attachments.filter((one) => !shown.includes(one));
  const bodies = [
    ...(text === undefined ? [] : [textEntity(text)]),
    ...(html === undefined ? [] : [multipart('related', [htmlEntity(html), ...shown.map(attached)])]),
  ];
  return multipart('mixed', [multipart('alternative', bodies), ...listed.map(attached)]);
}

/** Wraps parts into a multipart; a single part is returned as it is. RFC 2046 5.1. */
function multipart(kind: string, parts: readonly string[]): string {
  const [only = textEntity('')] = parts;
  if (parts.length <= 1) return only;
  // "=_" cannot occur in base64 or quoted-printable bodies, and the boundary is random.
  const boundary = `=_${randomBytes(18).toString('hex')}`;
  const type = kind === 'related' ? `; type="text/html"` : '';
  const inner = parts.map((part) => `--${boundary}\r\n${part}`).join('');
  return `Content-Type: multipart/${kind};\r\n boundary="${boundary}"${type}\r\n\r\n${inner}--${boundary}--\r\n`;
}

function htmlEntity(html: string): string {
  const fields = 'Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n';
  return fields + encodeQuotedPrintable(Buffer.from(textLines(html)));
}

function attached({ filename, contentType, content, contentId }: ComposedAttachment): string {
  const name = formatParameter('filename', oneLine(filename));
  const disposition = contentId === undefined ? 'attachment' : 'inline';
  const isMessage = /^message\//i.test(contentType);
  const asItIs = isMessage && isPlain(content);
  return [
    `Content-Type: ${isMessage && !asItIs ? 'application/octet-stream' : contentType}`,
    `Content-Transfer-Encoding: ${asItIs ? '7bit' : 'base64'}`,
    `Content-Disposition: ${disposition};\r\n ${name}`,
    ...(contentId === undefined ? [] : [`Content-ID: <${contentId}>`]),
    '',
    asItIs ? `${Buffer.from(content).toString('latin1')}\r\n` : base64Lines(content),
  ].join('\r\n');
}

/** True if octets need no transfer encoding. RFC 2046 5.2.1: message/rfc822 must not be encoded; otherwise it is sent as a file. */
function isPlain(content: Uint8Array): boolean {
  const text = Buffer.from(content).toString('latin1');
  return /^[\x01-\x7f]*$/.test(text) && !/\r(?!\n)|(?<!\r)\n|[^\r\n]{999}/.test(text);
}

/** Encodes as base64 lines of 76 characters with CRLF. RFC 2045 6.8. */
export function base64Lines(content: Uint8Array): string {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64');
  return `${text.replace(/.{76}/g, '$&\r\n')}\r\n`.replace(/\r\n\r\n$/, '\r\n');
}
