import { createHash } from 'node:crypto';
import type { Part } from '../../mail/message/parts.ts';
import { partBytes, readMessage } from '../../mail/message/readable.ts';
import type { StoredMessage } from '../../mail/store/blob/stored-message.ts';
import { attachmentUrl, type AttachmentLinkContext, WHOLE } from './attachment-link.ts';
import type { AttachmentElement, InboundEvent } from './event-schemas.ts';

/** Octets of a body: within common request limits of receivers. */
const MAX_BODY_OCTETS = 5 * 1024 * 1024;
/** Characters of a header field. With maximal fields and attachments half of the body remains for text. */
const MAX_FIELD_CHARACTERS = 64 * 1024;

/** The body of `email.inbound`: the sender's content as plain strings, at most 5 MiB of JSON. */
export function inboundBody(
  mailbox: string,
  email: number,
  stored: StoredMessage,
  blob: Uint8Array,
  links: AttachmentLinkContext,
): Buffer {
  const { attachments, ...read } = readMessage(blob, stored.parts);
  const message = {
    ...read,
    // Cut early: more would not fit, and encoding it takes long.
    text: read.text.slice(0, MAX_BODY_OCTETS),
    html: read.html.slice(0, MAX_BODY_OCTETS),
    receivedAt: new Date(stored.receivedAt).toISOString(),
    attachments: attachments.map((part) => attachmentElement(email, part, blob, links)),
  };
  const trust = stored.trust && { ...stored.trust, flags: [...stored.trust.flags] };
  const event: InboundEvent = { type: 'email.inbound', mailbox, message, trust };
  const whole = Buffer.from(JSON.stringify(event));
  return whole.length <= MAX_BODY_OCTETS ? whole : Buffer.from(JSON.stringify(truncateEvent(event, email, links)));
}

/** Truncates texts at their end: html before text, because it is the longer form of the same. */
function truncateEvent(event: InboundEvent, email: number, links: AttachmentLinkContext): InboundEvent {
  const whole = event.message;
  const url = attachmentUrl(links, email, WHOLE);
  const message = { ...whole, text: '', html: '' };
  for (const name of ['from', 'to', 'cc', 'subject', 'messageId'] as const) {
    message[name] = whole[name].slice(0, MAX_FIELD_CHARACTERS).toWellFormed();
  }
  const fields = ['from', 'to', 'cc', 'subject', 'messageId', 'text', 'html'];
  let room = MAX_BODY_OCTETS - jsonOctets({ ...event, message, truncated: { fields, url } });
  for (const name of ['text', 'html'] as const) {
    message[name] = truncateToJson(whole[name], room);
    room -= jsonOctets(message[name]);
  }
  const cut = fields.filter((name) => message[name as 'text'] !== whole[name as 'text']);
  return { ...event, message, truncated: { fields: cut, url } };
}

/** The begin of a text whose JSON fits. Escapes vary, so the first estimate may be too long. */
function truncateToJson(text: string, room: number): string {
  let kept = text;
  for (let size = jsonOctets(kept); size > room; size = jsonOctets(kept)) {
    kept = kept.slice(0, Math.floor((kept.length * Math.max(0, room - 2) * 0.99) / size)).toWellFormed();
    if (kept === '') break;
  }
  return kept;
}

const jsonOctets = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function attachmentElement(
  email: number,
  part: Part,
  blob: Uint8Array,
  links: AttachmentLinkContext,
): AttachmentElement {
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

/** A safe file name: no path, no control characters, never empty. */
export function safeName(name: string, part: Pick<Part, 'path' | 'subtype'>): string {
  const plain = name
    .replace(/[\\/\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, 200)
    // Last: the cut can split a surrogate pair.
    .toWellFormed()
    .trim();
  return plain === '' ? `part-${part.path}.${part.subtype.replace(/[^\w]+/g, '')}` : plain;
}
