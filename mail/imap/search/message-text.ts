import { decodeCharset, decodeTransfer } from '../../message/decode.ts';
import { decodeWords } from '../../message/encoded-word.ts';
import { readFields, unfold, type Field } from '../../message/header.ts';
import { LIMITS } from '../../message/limits.ts';
import { unpackParts, type Part } from '../../message/parts.ts';
import { casemap } from '../../message/subject.ts';
import { plainText } from './plain-text.ts';
import type { BodyFacts, HeaderFacts } from './matcher.ts';

/** Characters that are folded at once: folding needs several times the memory of the text. */
const WINDOW = 256 * 1024;

/** The header of a message as a person reads it, for HEADER, SUBJECT, FROM and the like, and TEXT. */
export function headerFacts(octets: Uint8Array): HeaderFacts {
  const fields = fieldsOf(octets);
  const decoded = new Map<Field, string>();
  const value = (field: Field): string => {
    const known = decoded.get(field) ?? casemap(decodeWords(unfold(field.value)));
    decoded.set(field, known);
    return known;
  };
  return {
    field: (name, text) => fields.some((field) => field.name === name && value(field).includes(text)),
    anywhere: (text) => fields.some((field) => `${casemap(field.name)}: ${value(field)}`.includes(text)),
  };
}

/**
 * The text of a message: every text part in its charset (HTML as it stands and without its tags), and what else a reader
 * sees of the parts: file names, and the headers of attached messages. `offset` is where the indexed blob begins. Once
 * it is `late`, nothing more is found.
 */
export function bodyFacts(octets: Uint8Array, parts: string, offset: number, late: () => boolean): BodyFacts {
  const blob = octets.subarray(offset);
  const table = unpackParts(parts);
  const about = table.slice(1).map((part) => once(() => aboutPart(blob, part)));
  const texts = table.filter(isText).map((part) => once(() => textsOf(blob, part)));
  return {
    body: (text) =>
      about.some((part) => part()(text)) || texts.some((part) => part().some((each) => includes(each, text, late))),
  };
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function aboutPart(blob: Uint8Array, part: Part): (text: string) => boolean {
  const name = casemap(part.filename);
  const header = headerFacts(blob.subarray(part.headerOffset, part.bodyOffset));
  return (text) => name.includes(text) || header.anywhere(text);
}

// Delivery and disposition notifications are of type message and readable; an attached message has parts of its own.
function isText({ type, subtype }: Part): boolean {
  return type === 'text' || (type === 'message' && subtype !== 'rfc822');
}

function textsOf(blob: Uint8Array, part: Part): string[] {
  const octets = blob.subarray(part.bodyOffset, part.bodyOffset + part.bodyLength);
  const text = decodeCharset(decodeTransfer(octets, part.encoding), part.charset);
  return part.subtype === 'html' ? [text, plainText(text)] : [text];
}

function fieldsOf(octets: Uint8Array): Field[] {
  const header = Buffer.from(octets.buffer, octets.byteOffset, Math.min(octets.length, LIMITS.header));
  return readFields(header.toString('latin1'), LIMITS.fields).filter(({ name }) => name !== '');
}

/** Whether the folded needle is in the text. Windows overlap by what one fold may spread over. */
function includes(text: string, needle: string, late: () => boolean): boolean {
  const overlap = 4 * needle.length + 64;
  for (let at = 0; at < text.length && !late(); at += WINDOW) {
    if (casemap(text.slice(at, at + WINDOW + overlap)).includes(needle)) return true;
  }
  return false;
}
