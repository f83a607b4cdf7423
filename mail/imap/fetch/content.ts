import { selectHeaderFields } from '../../message/header.ts';
import { LIMITS } from '../../message/limits.ts';
import { unpackParts, type Part } from '../../message/parts.ts';
import { section as partSection } from '../../message/section.ts';
import type { MessageRow } from '../imap-store.ts';
import type { EncodedPart } from './binary.ts';
import type { Section, SectionItem } from './items.ts';

/** A range of trace and blob joined. */
export interface SectionRange {
  start: number;
  length: number;
}

/** The content of a section: octets in memory, or their range. NIL when the part does not exist. */
export type SectionContent = { kind: 'nil' } | { kind: 'octets'; octets: Buffer } | ({ kind: 'range' } & SectionRange);

export type ReadBytes = (start: number, length: number) => Promise<Buffer>;

const SECTION_TEXT = {
  all: 'BODY',
  header: 'HEADER',
  text: 'TEXT',
  mime: 'MIME',
  fields: 'HEADER',
  'fields-not': 'HEADER',
} as const;

/** The fields that an item selects from a header, cut to its partial range. */
export function selectItemFields({ section, partial }: SectionItem, header: Buffer): Buffer {
  const octets = selectHeaderFields(header, section.fields ?? [], section.what === 'fields-not');
  return partial === undefined ? octets : octets.subarray(partial.offset, partial.offset + partial.length);
}

/** Sections of one message; the part table is parsed once. */
export class MessageContent {
  private readonly row: MessageRow;
  private readonly bytes: ReadBytes;
  private parts: readonly Part[] | undefined;

  constructor(row: MessageRow, bytes: ReadBytes) {
    this.row = row;
    this.bytes = bytes;
  }

  /** Returns the content of a section. A partial range beyond the end is empty, not an error. RFC 9051 6.4.5. */
  async open(item: SectionItem): Promise<SectionContent> {
    const place = this.locate(item);
    if (place === undefined) return { kind: 'nil' };
    if (item.section.fields === undefined) return { kind: 'range', ...place };
    return { kind: 'octets', octets: selectItemFields(item, await this.bytes(place.start, place.length)) };
  }

  /** Range of a section, or of the header whose fields it selects. Undefined: the part does not exist. */
  locate({ section, partial }: SectionItem): SectionRange | undefined {
    const whole = section.path === '' ? this.root(section.what) : this.part(section);
    if (whole === undefined) return undefined;
    // Fields beyond the header limit are ignored.
    if (section.fields !== undefined) return { start: whole.start, length: Math.min(whole.length, LIMITS.header) };
    if (partial === undefined) return whole;
    const from = Math.min(partial.offset, whole.length);
    return { start: whole.start + from, length: Math.min(partial.length, whole.length - from) };
  }

  /** The part of BINARY[path]; undefined when it does not exist. A message has no transfer encoding: RFC 2045 6.4. */
  encoded(path: string): EncodedPart | undefined {
    const { trace, length } = this.row.content;
    const total = trace.length + length;
    if (path === '') return { start: 0, length: total, encoding: '', decodedLength: total };
    this.parts ??= unpackParts(this.row.structure?.parts ?? '[]');
    const part = this.parts.find((one) => one.path === path);
    if (part === undefined) return undefined;
    const { encoding, bodyOffset, bodyLength, decodedLength, isEstimated } = part;
    return {
      start: bodyOffset + trace.length,
      length: bodyLength,
      encoding,
      decodedLength: isEstimated === true ? undefined : decodedLength,
    };
  }

  // The trace lines belong to the message and its header, but not to the blob.
  private root(what: Section['what']): SectionRange | undefined {
    const { trace, length } = this.row.content;
    const total = trace.length + length;
    const header = Math.min(trace.length + (this.row.structure?.headerLength ?? 0), total);
    if (what === 'all') return { start: 0, length: total };
    if (what === 'text') return { start: header, length: total - header };
    return what === 'mime' ? undefined : { start: 0, length: header };
  }

  private part({ path, what }: Section): SectionRange | undefined {
    this.parts ??= unpackParts(this.row.structure?.parts ?? '[]');
    const range = partSection(this.parts, path, SECTION_TEXT[what]);
    return range && { start: range.start + this.row.content.trace.length, length: range.length };
  }
}
