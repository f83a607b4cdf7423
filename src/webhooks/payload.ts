import { createHash } from 'node:crypto';
import { partBytes, readMessage } from '../../mail/message/readable.ts';
import type { Part } from '../../mail/message/parts.ts';
import type { StoredMessage } from '../../mail/store/arrival.ts';
import { attachmentUrl, type LinkMaker } from './attachment-link.ts';

/** Larger texts are cut, so that a receiver with common limits takes the rest. */
const LARGEST = 5 * 1024 * 1024;
const LONGEST_TEXT = 2 * 1024 * 1024;

export interface InboundEvent {
  type: 'email.inbound';
  mailbox: string;
  message: {
    from: string;
    to: string;
    cc: string;
    subject: string;
    text: string;
    html: string;
    messageId: string;
    receivedAt: string;
    attachments: AttachmentElement[];
  };
}

export interface AttachmentElement {
  id: string;
  filename: string;
  contentType: string;
  size: number;
  sha256: string;
  contentId: string | null;
  inline: boolean;
  /** Good for 24 hours, without a credential. */
  url: string;
}

/** The body of `email.inbound`: what the sender wrote, as plain strings. */
export function inboundBody(
  mailbox: string,
  email: number,
  stored: StoredMessage,
  blob: Uint8Array,
  links: LinkMaker,
): Buffer {
  const { attachments, ...message } = readMessage(blob, stored.parts);
  const event: InboundEvent = {
    type: 'email.inbound',
    mailbox,
    message: {
      ...message,
      text: cut(message.text),
      html: cut(message.html),
      receivedAt: new Date(stored.receivedAt).toISOString(),
      attachments: attachments.map((part) => element(email, part, blob, links)),
    },
  };
  const body = Buffer.from(JSON.stringify(event));
  if (body.length <= LARGEST) return body;
  // Escapes can make text several times as long: then the receiver gets the facts and fetches the rest.
  return Buffer.from(JSON.stringify({ ...event, message: { ...event.message, text: '', html: '' } }));
}

function cut(text: string): string {
  return text.length <= LONGEST_TEXT ? text : text.slice(0, LONGEST_TEXT).toWellFormed();
}

function element(email: number, part: Part, blob: Uint8Array, links: LinkMaker): AttachmentElement {
  const bytes = partBytes(blob, part);
  return {
    id: `att_${email}_${part.path}`,
    filename: safeName(part.filename, part),
    contentType: `${part.type}/${part.subtype}`,
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    contentId: part.contentId === '' ? null : part.contentId,
    inline: part.disposition === 'inline' || (part.disposition === '' && part.contentId !== ''),
    url: attachmentUrl(links, email, part.path),
  };
}

/** A name that can be saved under: no path, no control characters, never empty. */
export function safeName(name: string, part: Pick<Part, 'path' | 'subtype'>): string {
  const plain = name
    .toWellFormed()
    .replace(/[\\/\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, 200)
    .trim();
  return plain === '' ? `part-${part.path}.${part.subtype.replace(/[^\w]+/g, '')}` : plain;
}
