import type { Decoder } from '../wire/decoder.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';
import type { FetchItem, FetchRequest, SectionItem, SimpleItem } from './items.ts';
import { parseSection } from './section-name.ts';

const SIMPLE: Readonly<Record<string, SimpleItem['kind']>> = {
  UID: 'uid',
  FLAGS: 'flags',
  INTERNALDATE: 'internaldate',
  'RFC822.SIZE': 'size',
  ENVELOPE: 'envelope',
  BODYSTRUCTURE: 'bodystructure',
  BODY: 'body',
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

/** Items of one FETCH: each costs a read of the message. */
const MAX_ITEMS = 200;

/** Reads the items of FETCH: one, a list, or a macro. For UID FETCH the UID is added. RFC 9051 6.4.5, 6.4.9. */
export function parseFetch(d: Decoder, uid: boolean): FetchRequest {
  const items = d.ahead('(') ? d.list((d) => item(d)) : macro(d);
  if (items.length === 0) throw new ImapSyntaxError('Expected a FETCH item');
  return request(uid ? [{ kind: 'uid' }, ...items] : items);
}

/** The request with FLAGS added, for a message that FETCH just marked \Seen. */
export function withFlags(fetch: FetchRequest): FetchRequest {
  return request([...fetch.items, { kind: 'flags' }]);
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
  const kind = entry(SIMPLE, name);
  const section = entry(OLD_SECTIONS, name);
  if (kind) return { kind };
  if (section) return section;
  throw new ImapSyntaxError(entry(MACROS, name) ? 'A FETCH macro must be the only item' : 'Unknown FETCH item');
}

function body(d: Decoder, peek: boolean): SectionItem {
  const { section, name } = parseSection(d);
  if (!d.maybe('<')) return { kind: 'section', name: `BODY[${name}]`, section, peek };
  const offset = d.number();
  const length = d.expect('.').nzNumber();
  d.expect('>');
  // RFC 9051 7.5.2: the response names the origin octet, not the requested length.
  return { kind: 'section', name: `BODY[${name}]<${offset}>`, section, peek, partial: { offset, length } };
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
  const setsSeen = all.some((item) => item.kind === 'section' && !item.peek);
  return { items, setsSeen, reads: reads(items), structure: items.some(needsStructure) };
}

function key(item: FetchItem): string {
  return item.kind === 'section' ? `${item.name}.${item.partial?.length ?? ''}` : item.kind;
}

function reads(items: readonly FetchItem[]): FetchRequest['reads'] {
  if (items.some(({ kind }) => kind === 'section')) return 'content';
  if (items.some(needsStructure)) return 'structure';
  return items.every(({ kind }) => kind === 'uid' || kind === 'flags') ? 'view' : 'row';
}

function needsStructure(item: FetchItem): boolean {
  if (item.kind === 'section') return item.section.path !== '' || item.section.what !== 'all';
  return item.kind === 'envelope' || item.kind === 'bodystructure' || item.kind === 'body';
}
