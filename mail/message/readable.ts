import { decodeCharset, decodeTransfer } from './decode.ts';
import { decodeWords } from './encoded-word.ts';
import { firstField, readFields, unfold } from './header.ts';
import { LIMITS } from './limits.ts';
import type { Part } from './parts.ts';

/** A decoded message. All content is untrusted. */
export interface ReadableMessage {
  /** Decoded header fields; '' when missing. */
  from: string;
  to: string;
  cc: string;
  subject: string;
  /** With angle brackets, as written. */
  messageId: string;
  /** Texts of the message itself; '' if there are none of that type. */
  text: string;
  html: string;
  /** All other parts. */
  attachments: Part[];
}

/** Decodes a message by its part table. Never throws. */
export function readMessage(blob: Uint8Array, parts: readonly Part[]): ReadableMessage {
  const own = ownParts(parts);
  const bodies = own.filter(isBody);
  const field = fieldReader(blob);
  return {
    from: field('from'),
    to: field('to'),
    cc: field('cc'),
    subject: field('subject'),
    messageId: field('message-id'),
    text: bodies
      .filter((part) => part.subtype !== 'html')
      .map((part) => partText(blob, part))
      .join('\n'),
    html: bodies
      .filter((part) => part.subtype === 'html')
      .map((part) => partText(blob, part))
      .join('\n'),
    attachments: own.filter((part) => part.type !== 'multipart' && !isBody(part)),
  };
}

/** Decodes the text of one part. */
export function partText(blob: Uint8Array, part: Part): string {
  return decodeCharset(partBytes(blob, part), part.charset).replace(/\r\n/g, '\n');
}

/** Decodes the transfer encoding of one part. */
export function partBytes(blob: Uint8Array, part: Part): Buffer {
  return decodeTransfer(blob.subarray(part.bodyOffset, part.bodyOffset + part.bodyLength), part.encoding);
}

/** Excludes the parts of attached messages. */
function ownParts(parts: readonly Part[]): Part[] {
  const attached = parts
    .filter((part) => part.type === 'message' && part.subtype === 'rfc822')
    .map((part) => part.path);
  return parts.filter((part) => !attached.some((path) => part.path.startsWith(`${path}.`)));
}

/** True for body text, by RFC 8621 4.1.4. */
function isBody({ type, subtype, disposition, filename }: Part): boolean {
  return (
    type === 'text' &&
    ['plain', 'html', 'enriched'].includes(subtype) &&
    disposition !== 'attachment' &&
    filename === ''
  );
}

function fieldReader(blob: Uint8Array): (name: string) => string {
  const header = Buffer.from(blob.buffer, blob.byteOffset, Math.min(blob.length, LIMITS.header)).toString('latin1');
  const fields = readFields(header, LIMITS.fields);
  return (name) => {
    const value = firstField(fields, name);
    return value === undefined
      ? ''
      : decodeWords(unfold(value))
          .replace(/[\r\n\0]+/g, ' ')
          .trim();
  };
}
