import { createHash } from 'node:crypto';
import type { Part } from '../../mail/message/parts.ts';
import { partBytes, readMessage } from '../../mail/message/readable.ts';
import type { StoredMessage } from '../../mail/store/arrival.ts';
import { attachmentUrl, type LinkMaker, WHOLE } from './attachment-link.ts';
import type { AttachmentElement, InboundEvent } from './event-schemas.ts';

/** Octets of a body at most: what a receiver with common limits takes. */
const LARGEST = 5 * 1024 * 1024;
/** Characters of a header field. With the longest fields and the most attachments, half the room is left for text. */
const LONGEST_FIELD = 64 * 1024;

/** The body of `email.inbound`: what the sender wrote, as plain strings, at most 5 MiB of JSON. */
export function inboundBody(
  mailbox: string,
  email: number,
  stored: StoredMessage,
  blob: Uint8Array,
  links: LinkMaker,
): Buffer {
  const { attachments, ...read } = readMessage(blob, stored.parts);
  const message = {
    ...read,
    // Of a longer one not all would fit in any case, and JSON of it takes long.
    text: read.text.slice(0, LARGEST),
    html: read.html.slice(0, LARGEST),
    receivedAt: new Date(stored.receivedAt).toISOString(),
    attachments: attachments.map((part) => element(email, part, blob, links)),
  };
  const trust = stored.trust && { ...stored.trust, flags: [...stored.trust.flags] };
  const event: InboundEvent = { type: 'email.inbound', mailbox, message, trust };
  const whole = Buffer.from(JSON.stringify(event));
  return whole.length <= LARGEST ? whole : Buffer.from(JSON.stringify(shortened(event, email, links)));
}

/** Texts are cut from their end: html before text, as it says the same with more words. */
function shortened(event: InboundEvent, email: number, links: LinkMaker): InboundEvent {
  const whole = event.message;
  const url = attachmentUrl(links, email, WHOLE);
  const message = { ...whole, text: '', html: '' };
  for (const name of ['from', 'to', 'cc', 'subject', 'messageId'] as const) {
    message[name] = whole[name].slice(0, LONGEST_FIELD).toWellFormed();
  }
  const fields = ['from', 'to', 'cc', 'subject', 'messageId', 'text', 'html'];
  let room = LARGEST - encoded({ ...event, message, truncated: { fields, url } });
  for (const name of ['text', 'html'] as const) {
    message[name] = beginning(whole[name], room);
    room -= encoded(message[name]);
  }
  const cut = fields.filter((name) => message[name as 'text'] !== whole[name as 'text']);
  return { ...event, message, truncated: { fields: cut, url } };
}

/** As much of a text as its JSON has room for. Escapes are anywhere, so a first guess may be too long. */
function beginning(text: string, room: number): string {
  let kept = text;
  for (let size = encoded(kept); size > room; size = encoded(kept)) {
    kept = kept.slice(0, Math.floor((kept.length * Math.max(0, room - 2) * 0.99) / size)).toWellFormed();
    if (kept === '') break;
  }
  return kept;
}

const encoded = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

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
