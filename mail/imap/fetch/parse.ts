import type { Decoder } from '../wire/decoder.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';
import type { BinaryItem, BinarySizeItem, FetchItem, FetchRequest, SectionItem, SimpleItem } from './items.ts';
import { parseSection } from './section-name.ts';

const SIMPLE: Readonly<Record<string, SimpleItem['kind']>> = {
  UID: 'uid',
  FLAGS: 'flags',
  INTERNALDATE: 'internaldate',
  'RFC822.SIZE': 'size',
  ENVELOPE: 'envelope',
  BODYSTRUCTURE: 'bodystructure',
  BODY: 'body',
  EMAILID: 'emailid',
  THREADID: 'threadid',
  SAVEDATE: 'savedate',
  PREVIEW: 'preview',
  MODSEQ: 'modseq',
};

const OLD_SECTIONS: Readonly<Record<string, SectionItem>> = {
  RFC822: { kind: 'section', name: 'RFC822', section: { path: '', what: 'all' }, peek: false },
  'RFC822.HEADER': { kind: 'section', name: 'RFC822.HEADER', section: { path: '', what: 'header' }, peek: true },
  'RFC822.TEXT': { kind: 'section', name: 'RFC822.TEXT', section: { path: '', what: 'text' }, peek: false },
};

const FAST: readonly SimpleItem['kind'][] = ['flags', 'internaldate', 'size'];
const MACROS: Readonly<Record<string, readonly SimpleItem['kind'][]>> = {
  FAST,
  ALL: [...FAST, 'envelope'],
  FULL: [...FAST, 'envelope', 'body'],
};

const STRUCTURE_ITEMS: ReadonlySet<FetchItem['kind']> = new Set([
  'envelope',
  'bodystructure',
  'body',
  'binary',
  'binary-size',
]);
/** Items that need no row. */
const IN_VIEW: ReadonlySet<FetchItem['kind']> = new Set(['uid', 'flags', 'modseq']);

/** Items of one FETCH: each costs a read of the message. */
const MAX_ITEMS = 200;

/** Reads the items of FETCH: one, a list, or a macro. For UID FETCH the UID is added. RFC 9051 6.4.5, 6.4.9. */
export function parseFetch(d: Decoder, uid: boolean): FetchRequest {
  const items = d.ahead('(') ? d.list((d) => item(d)) : macro(d);
  if (items.length === 0) throw new ImapSyntaxError('Expected a FETCH item');
  return request(uid ? [{ kind: 'uid' }, ...items] : items);
}

/** The request with more items: FLAGS for a message that FETCH just marked \Seen, MODSEQ for CONDSTORE. */
export function withItems(fetch: FetchRequest, ...kinds: readonly SimpleItem['kind'][]): FetchRequest {
  return request([...fetch.items, ...kinds.map((kind) => ({ kind }))]);
}

/** The request without UID, which UIDFETCH responses have in front; UID alone stays. RFC 9586 3.3. */
export function withoutUid(fetch: FetchRequest): FetchRequest {
  const items = fetch.items.filter(({ kind }) => kind !== 'uid');
  return items.length === 0 ? fetch : request(items);
}

/** The request as the server makes it of its own accord: no message becomes \Seen by it. */
export function withoutSeen({ items }: FetchRequest): FetchRequest {
  return request(items.map((item) => (isContent(item) ? { ...item, peek: true } : item)));
}

/** Reports whether an item is requested. */
export function hasItem({ items }: FetchRequest, kind: SimpleItem['kind']): boolean {
  return items.some((item) => item.kind === kind);
}

function macro(d: Decoder): FetchItem[] {
  const name = d.name();
  const kinds = entry(MACROS, name);
  return kinds ? kinds.map((kind) => ({ kind })) : [itemNamed(d, name)];
}

function item(d: Decoder): FetchItem {
  return itemNamed(d, d.name());
}

function itemNamed(d: Decoder, name: string): FetchItem {
  if ((name === 'BODY' || name === 'BODY.PEEK') && d.maybe('[')) return body(d, name === 'BODY.PEEK');
  if (name === 'BINARY' || name === 'BINARY.PEEK') return binary(d.expect('['), name === 'BINARY.PEEK');
  if (name === 'BINARY.SIZE') return binarySize(d.expect('['));
  const kind = entry(SIMPLE, name);
  // RFC 8970 3.1: a lazy preview may be NIL; ours are stored, so it makes no difference.
  if (kind === 'preview') d.maybe(' (LAZY)');
  const section = entry(OLD_SECTIONS, name);
  if (kind) return { kind };
  if (section) return section;
  throw new ImapSyntaxError(entry(MACROS, name) ? 'A FETCH macro must be the only item' : 'Unknown FETCH item');
}

function body(d: Decoder, peek: boolean): SectionItem {
  const { section, name } = parseSection(d);
  const partial = partialRange(d);
  return { kind: 'section', name: `BODY[${name}]${origin(partial)}`, section, peek, ...(partial && { partial }) };
}

/**
 * A part without its transfer encoding. The grammar of RFC 3516 has part numbers alone; headers and texts are returned
 * as they are, as other servers do.
 */
function binary(d: Decoder, peek: boolean): BinaryItem | SectionItem {
  const { section, name } = parseSection(d);
  const partial = partialRange(d);
  const facts = { name: `BINARY[${name}]${origin(partial)}`, peek, ...(partial && { partial }) };
  if (section.what === 'all') return { kind: 'binary', path: section.path, ...facts };
  return { kind: 'section', section, ...facts };
}

function binarySize(d: Decoder): BinarySizeItem {
  const { section, name } = parseSection(d);
  return { kind: 'binary-size', name: `BINARY.SIZE[${name}]`, section };
}

/** `<offset.length>`, if it follows. */
function partialRange(d: Decoder): SectionItem['partial'] {
  if (!d.maybe('<')) return undefined;
  const offset = d.number();
  const length = d.expect('.').nzNumber();
  d.expect('>');
  return { offset, length };
}

/** RFC 9051 7.5.2: the response names the origin octet, not the requested length. */
function origin(partial: SectionItem['partial']): string {
  return partial === undefined ? '' : `<${partial.offset}>`;
}

function entry<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function request(all: readonly FetchItem[]): FetchRequest {
  const once = new Map<string, FetchItem>();
  for (const item of all) once.set(key(item), item);
  if (once.size > MAX_ITEMS) throw new ImapSyntaxError('Too many FETCH items');
  const items = [...once.values()];
  // Some clients read items by position and expect the UID first.
  items.sort((a, b) => Number(b.kind === 'uid') - Number(a.kind === 'uid'));
  const setsSeen = all.some((item) => isContent(item) && !item.peek);
  const preview = items.some(({ kind }) => kind === 'preview');
  return { items, setsSeen, reads: reads(items), structure: items.some(needsStructure), preview };
}

/** True for an item with octets of the message. */
export function isContent(item: FetchItem): item is SectionItem | BinaryItem {
  return item.kind === 'section' || item.kind === 'binary';
}

function key(item: FetchItem): string {
  if (item.kind === 'binary-size') return item.name;
  return isContent(item) ? `${item.name}.${item.partial?.length ?? ''}` : item.kind;
}

function reads(items: readonly FetchItem[]): FetchRequest['reads'] {
  // BINARY.SIZE may decode a part to count it.
  if (items.some((item) => isContent(item) || item.kind === 'binary-size')) return 'content';
  if (items.some(needsStructure)) return 'structure';
  return items.every(({ kind }) => IN_VIEW.has(kind)) ? 'view' : 'row';
}

function needsStructure(item: FetchItem): boolean {
  if (item.kind === 'section') return item.section.path !== '' || item.section.what !== 'all';
  return STRUCTURE_ITEMS.has(item.kind);
}
