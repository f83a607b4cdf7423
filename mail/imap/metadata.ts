import type { Annotation, AnnotationChange } from '../store/mailbox/annotation.ts';
import type { Decoder } from './wire/decoder.ts';
import { mailbox, string } from './wire/encoder.ts';
import { canonicalName } from './wire/mailbox-name.ts';
import { ImapSyntaxError, InvalidNameError } from './wire/syntax-error.ts';

/** Entries named in one command. */
const MAX_NAMED_ENTRIES = 100;
const MAX_ENTRY_CHARACTERS = 255;

export type MetadataDepth = '0' | '1' | 'INFINITY';

/** Parsed arguments of GETMETADATA. */
export interface MetadataRequest {
  /** Canonical name; '' means the account as a whole. */
  mailbox: string;
  /** Entries as the client spelled them. */
  entries: readonly string[];
  depth: MetadataDepth;
  /** Values of more octets are left out. */
  maxSize: number;
}

/** Parses GETMETADATA. RFC 5464 4.2; its examples have the options after the mailbox, its grammar before it. */
export function parseGetMetadata(d: Decoder): MetadataRequest {
  const options = { depth: '0' as MetadataDepth, maxSize: Infinity };
  d.sp();
  if (d.ahead('(')) {
    parseOptions(d, options);
    d.sp();
  }
  const name = metadataMailbox(d);
  d.sp();
  if (d.ahead('(DEPTH') || d.ahead('(MAXSIZE')) {
    parseOptions(d, options);
    d.sp();
  }
  return { mailbox: name, entries: parseEntries(d), ...options };
}

function parseOptions(d: Decoder, options: { depth: MetadataDepth; maxSize: number }): void {
  d.list((each) => {
    const name = each.word();
    if (name === 'MAXSIZE') options.maxSize = each.sp().number64();
    else if (name === 'DEPTH') options.depth = parseDepth(each.sp());
    else throw new ImapSyntaxError('Unknown GETMETADATA option: use MAXSIZE or DEPTH');
  });
}

function parseDepth(d: Decoder): MetadataDepth {
  const depth = d.word();
  if (depth !== '0' && depth !== '1' && depth !== 'INFINITY') throw new ImapSyntaxError('DEPTH is 0, 1 or infinity');
  return depth;
}

/** One entry name, or several in parentheses, each once. */
export function parseEntries(d: Decoder): string[] {
  const several = d.ahead('(');
  const names = several ? d.list(parseEntry) : [parseEntry(d)];
  if (names.length === 0 || names.length > MAX_NAMED_ENTRIES)
    throw new ImapSyntaxError(`Expected 1 to ${MAX_NAMED_ENTRIES} entries`);
  return [...new Set(names)];
}

/** Parses SETMETADATA: `mailbox (entry value ...)`. RFC 5464 4.3. */
export function parseSetMetadata(d: Decoder): { mailbox: string; changes: AnnotationChange[] } {
  const name = metadataMailbox(d.sp());
  const changes = d.sp().list((each) => ({
    name: writableEntry(parseEntry(each)),
    value: parseValue(each.sp()),
  }));
  if (changes.length === 0 || changes.length > MAX_NAMED_ENTRIES)
    throw new ImapSyntaxError(`Expected 1 to ${MAX_NAMED_ENTRIES} entries`);
  return { mailbox: name, changes };
}

function parseValue(d: Decoder): Buffer | null {
  if (d.ahead('"') || d.ahead('{')) return d.stringBytes();
  if (d.ahead('~')) return d.literal();
  if (d.word() !== 'NIL') throw new ImapSyntaxError('Expected a string or NIL');
  return null;
}

/** The mailbox of METADATA commands: '' is the account as a whole. */
function metadataMailbox(d: Decoder): string {
  const name = d.reference();
  const canonical = name === '' ? '' : canonicalName(name);
  if (canonical === undefined) throw new InvalidNameError();
  return canonical;
}

/** An entry name: printable ASCII, no wildcard, no empty component. RFC 5464 3.2. */
function parseEntry(d: Decoder): string {
  const name = d.astring();
  const valid = name.length <= MAX_ENTRY_CHARACTERS && /^(?:\/[\x20-$&-)+-.0-~]+)+$/.test(name);
  if (!valid) throw new ImapSyntaxError('Invalid entry name');
  return name;
}

/** A name that can have a value, in lower case. RFC 5464 3.2.1: vendors' entries have a vendor and a name. */
function writableEntry(name: string): string {
  const lower = name.toLowerCase();
  if (!/^\/(?:private|shared)\/./.test(lower)) throw new ImapSyntaxError('Entries begin with /private/ or /shared/');
  if (/^\/(?:private|shared)\/vendor(?:\/[^/]*)?$/.test(lower))
    throw new ImapSyntaxError('Entries below /vendor/ need a vendor and a name');
  return lower;
}

/** Values of the requested entries, null where there is none, and the octets of the longest one left out. */
export interface MetadataSelection {
  values: { name: string; value: Uint8Array | null }[];
  longest: number;
}

/** Selects what a request names. An entry that was named has NIL when it is missing, one found by DEPTH does not. */
export function selectEntries(
  all: readonly Annotation[],
  request: Omit<MetadataRequest, 'mailbox'>,
): MetadataSelection {
  const byName = new Map(all.map((each) => [each.name, each.value]));
  const values: MetadataSelection['values'] = [];
  let longest = 0;
  const add = (name: string, value: Uint8Array | null): void => {
    if (value !== null && value.length > request.maxSize) longest = Math.max(longest, value.length);
    else values.push({ name, value });
  };
  const named = new Set(request.entries.map((name) => name.toLowerCase()));
  for (const name of request.entries) add(name, byName.get(name.toLowerCase()) ?? null);
  if (request.depth === '0') return { values, longest };
  for (const [name, value] of byName) {
    if (!named.has(name) && isBelow(name, named, request.depth)) add(name, value);
  }
  return { values: values.filter(({ value }) => value !== null), longest };
}

/** Tests if a name is below one of the given ones: at any depth, or as a direct child. */
function isBelow(name: string, parents: ReadonlySet<string>, depth: MetadataDepth): boolean {
  for (let slash = name.lastIndexOf('/'); slash > 0; slash = name.lastIndexOf('/', slash - 1)) {
    if (parents.has(name.slice(0, slash))) return true;
    if (depth === '1') return false;
  }
  return false;
}

/** `* METADATA INBOX (/private/comment "My comment")` and CRLF. RFC 5464 4.4.1. */
export function metadataResponse(name: string, values: MetadataSelection['values'], utf8: boolean): string {
  const items = values.map((each) => `${string(each.name)} ${encodeValue(each.value)}`);
  return `* METADATA ${name === '' ? '""' : mailbox(name, utf8)} (${items.join(' ')})\r\n`;
}

/** `* METADATA INBOX /private/comment`: the entries changed. RFC 5464 4.4.2. */
export function metadataKeys(name: string, entries: readonly string[], utf8: boolean): string {
  return `* METADATA ${name === '' ? '""' : mailbox(name, utf8)} ${entries.map(string).join(' ')}\r\n`;
}

/** A string, or a literal8 when it has NUL. */
function encodeValue(value: Uint8Array | null): string {
  if (value === null) return 'NIL';
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1');
  return text.includes('\0') ? `~{${text.length}}\r\n${text}` : string(text);
}
