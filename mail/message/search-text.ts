import { decodeWords } from './encoded-word.ts';
import { decodeCharset, decodeTransfer } from './decode.ts';
import { readFields, unfold } from './header.ts';
import { htmlText } from './html-text.ts';
import { LIMITS } from './limits.ts';
import type { Part } from './parts.ts';

/** Characters of one message that are indexed for search. */
export const MAX_SEARCHED_CHARS = 256 * 1024;
/** Octets of one message that are read for the index. */
const MAX_OCTETS = 1024 * 1024;

/** Searchable header texts. */
export interface HeaderTexts {
  subject: string;
  from: string;
  to: string;
  cc: string;
  bcc: string;
}

/** Searchable texts of the parts. */
export interface PartTexts {
  /** Body texts, HTML without tags. */
  body: string;
  /** Attachment names and attached texts. */
  attach: string;
}

const FIELDS: ReadonlySet<string> = new Set(['subject', 'from', 'to', 'cc', 'bcc']);

/** Reads the texts of a header. Never throws. */
export function headerTexts(header: Uint8Array): HeaderTexts {
  const octets = Buffer.from(header.buffer, header.byteOffset, Math.min(header.length, LIMITS.header));
  const texts: HeaderTexts & Record<string, string> = { subject: '', from: '', to: '', cc: '', bcc: '' };
  for (const { name, value } of readFields(octets.toString('latin1'), LIMITS.fields)) {
    if (!FIELDS.has(name)) continue;
    const text = decodeWords(unfold(value.slice(0, LIMITS.field)));
    texts[name] = texts[name] === '' ? text : `${texts[name]}\n${text}`;
  }
  return texts;
}

/** Reads the texts of the parts; `read` returns octets of the indexed blob. */
export function partTexts(read: (start: number, length: number) => Uint8Array, parts: readonly Part[]): PartTexts {
  const body = new TextCollector();
  const attach = new TextCollector();
  let octets = MAX_OCTETS;
  for (const part of parts) {
    if (part.filename !== '') attach.add(part.filename);
    const into = isBody(part) ? body : attach;
    const length = isText(part) ? Math.min(part.bodyLength, octets) : 0;
    if (length === 0 || into.full) continue;
    octets -= length;
    into.add(textOf(read(part.bodyOffset, length), part, MAX_SEARCHED_CHARS));
  }
  return { body: body.text, attach: attach.text };
}

function textOf(octets: Uint8Array, part: Part, enough: number): string {
  const text = decodeCharset(decodeTransfer(octets, part.encoding), part.charset);
  return part.subtype === 'html' ? htmlText(text, enough) : text;
}

/** True for text and for reports (message/*); an attached message has its own parts. */
function isText({ type, subtype }: Part): boolean {
  return type === 'text' || (type === 'message' && subtype !== 'rfc822');
}

function isBody({ type, subtype, disposition, filename }: Part): boolean {
  return (
    type === 'text' &&
    ['plain', 'html', 'enriched'].includes(subtype) &&
    disposition !== 'attachment' &&
    filename === ''
  );
}

class TextCollector {
  text = '';

  get full(): boolean {
    return this.text.length >= MAX_SEARCHED_CHARS;
  }

  add(text: string): void {
    if (this.full) return;
    this.text += `${this.text === '' ? '' : '\n'}${text}`.slice(0, MAX_SEARCHED_CHARS - this.text.length);
  }
}
