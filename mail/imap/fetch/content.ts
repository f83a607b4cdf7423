import { selectHeaderFields } from '../../message/header.ts';
import { LIMITS } from '../../message/limits.ts';
import { unpackParts, type Part } from '../../message/parts.ts';
import { section as partSection } from '../../message/section.ts';
import type { MessageRow } from '../imap-store.ts';
import type { EncodedPart } from './binary.ts';
import type { Section, SectionItem } from './items.ts';

/** The content of a section: octets in memory, or a range of trace and blob joined. NIL when the part does not exist. */
export type SectionContent =
  { kind: 'nil' } | { kind: 'octets'; octets: Buffer } | { kind: 'range'; start: number; length: number };

export type ReadBytes = (start: number, length: number) => Promise<Buffer>;

const SECTION_TEXT = {
  all: 'BODY',
  header: 'HEADER',
  text: 'TEXT',
  mime: 'MIME',
  fields: 'HEADER',
  'fields-not': 'HEADER',
} as const;

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
  async open({ section, partial }: SectionItem): Promise<SectionContent> {
    const whole = await this.section(section);
    if (partial === undefined || whole.kind === 'nil') return whole;
    const { offset, length } = partial;
    if (whole.kind === 'octets') return { kind: 'octets', octets: whole.octets.subarray(offset, offset + length) };
    const start = Math.min(offset, whole.length);
    return { kind: 'range', start: whole.start + start, length: Math.min(length, whole.length - start) };
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

  private async section(section: Section): Promise<SectionContent> {
    const range = section.path === '' ? this.root(section.what) : this.part(section);
    if (range === undefined) return { kind: 'nil' };
    if (section.fields === undefined) return { kind: 'range', ...range };
    // Fields beyond the header limit are ignored.
    const header = await this.bytes(range.start, Math.min(range.length, LIMITS.header));
    return { kind: 'octets', octets: selectHeaderFields(header, section.fields, section.what === 'fields-not') };
  }

  // The trace lines belong to the message and its header, but not to the blob.
  private root(what: Section['what']): { start: number; length: number } | undefined {
    const { trace, length } = this.row.content;
    const total = trace.length + length;
    const header = Math.min(trace.length + (this.row.structure?.headerLength ?? 0), total);
    if (what === 'all') return { start: 0, length: total };
    if (what === 'text') return { start: header, length: total - header };
    return what === 'mime' ? undefined : { start: 0, length: header };
  }

  private part({ path, what }: Section): { start: number; length: number } | undefined {
    this.parts ??= unpackParts(this.row.structure?.parts ?? '[]');
    const range = partSection(this.parts, path, SECTION_TEXT[what]);
    return range && { start: range.start + this.row.content.trace.length, length: range.length };
  }
}
