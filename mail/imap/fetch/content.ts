import { selectHeaderFields } from '../../message/header.ts';
import { LIMITS } from '../../message/limits.ts';
import { unpackParts, type Part } from '../../message/parts.ts';
import { section as partSection } from '../../message/section.ts';
import type { MessageRow } from '../needs.ts';
import type { Section, SectionItem } from './items.ts';

/** What a section is made of: octets at hand, or a range of trace and blob together. NIL when there is no such part. */
export type Content =
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

/** Finds the sections of one message; the part table is read once. */
export class MessageContent {
  private readonly row: MessageRow;
  private readonly bytes: ReadBytes;
  private known: readonly Part[] | undefined;

  constructor(row: MessageRow, bytes: ReadBytes) {
    this.row = row;
    this.bytes = bytes;
  }

  /** A part of a section that lies behind its end is empty, not an error. RFC 9051 6.4.5. */
  async open({ section, partial }: SectionItem): Promise<Content> {
    const whole = await this.section(section);
    if (partial === undefined || whole.kind === 'nil') return whole;
    const { offset, length } = partial;
    if (whole.kind === 'octets') return { kind: 'octets', octets: whole.octets.subarray(offset, offset + length) };
    const start = Math.min(offset, whole.length);
    return { kind: 'range', start: whole.start + start, length: Math.min(length, whole.length - start) };
  }

  private async section(section: Section): Promise<Content> {
    const range = section.path === '' ? this.root(section.what) : this.part(section);
    if (range === undefined) return { kind: 'nil' };
    if (section.fields === undefined) return { kind: 'range', ...range };
    // A header beyond the limit is looked through as far as the limit only.
    const header = await this.bytes(range.start, Math.min(range.length, LIMITS.header));
    return { kind: 'octets', octets: selectHeaderFields(header, section.fields, section.what === 'fields-not') };
  }

  // The trace lines are a part of the message and its header, though not of the blob.
  private root(what: Section['what']): { start: number; length: number } | undefined {
    const { trace, length } = this.row.content;
    const total = trace.length + length;
    const header = Math.min(trace.length + (this.row.structure?.headerLength ?? 0), total);
    if (what === 'all') return { start: 0, length: total };
    if (what === 'text') return { start: header, length: total - header };
    return what === 'mime' ? undefined : { start: 0, length: header };
  }

  private part({ path, what }: Section): { start: number; length: number } | undefined {
    this.known ??= unpackParts(this.row.structure?.parts ?? '[]');
    const range = partSection(this.known, path, SECTION_TEXT[what]);
    return range && { start: range.start + this.row.content.trace.length, length: range.length };
  }
}
