/** Types of records that this server writes. */
export type OwnedType = 'MX' | 'TXT' | 'CNAME' | 'SRV' | 'CAA' | 'TLSA';

/** A record as a DNS provider has it. */
export interface ZoneEntry {
  type: string;
  /** Full name in lower case, without a trailing dot. */
  name: string;
  /** MX: `10 host`; SRV: `0 1 993 host`; TXT: whole and unquoted; CAA: `0 issue "ca"`; TLSA: `3 1 1 hex`; hosts without a trailing dot. */
  value: string;
  ttl: number;
  /** Id at the provider; '' where records have none. */
  id: string;
  /** The record in the provider's own form: what stays is sent back unchanged. */
  raw: string;
}

/** A record to write. */
export interface NewEntry extends Pick<ZoneEntry, 'name' | 'value' | 'ttl'> {
  type: OwnedType;
  /** Own form of a record that is restored, as {@link ZoneEntry.raw}. */
  raw?: string;
}

/** A change of the records of one name and type. */
export interface RecordSetChange {
  type: OwnedType;
  name: string;
  remove: readonly ZoneEntry[];
  add: readonly NewEntry[];
  /** Other records of the same name and type, which stay. */
  keep: readonly ZoneEntry[];
}

/** Longest value that is read; a record has 64 KiB at most. */
const MAX_VALUE = 65_535;

/** TTL of the records after a change: all records of one name and type have the same one. RFC 2181 5.2. */
export function ttlOf({ add, keep, remove }: RecordSetChange): number {
  return keep[0]?.ttl ?? remove[0]?.ttl ?? add[0]?.ttl ?? 3600;
}

/** Lower case without a trailing dot. */
export function normalizeZoneName(name: string): string {
  const text = name.slice(0, 255).toLowerCase();
  return text.endsWith('.') ? text.slice(0, -1) : text;
}

/** Reads the data of a record in zone file form. RFC 1035 5.1. */
export function readRecordData(type: string, data: string): string {
  const text = data.slice(0, MAX_VALUE).trim();
  switch (type) {
    case 'TXT':
      return textOf(text);
    case 'MX':
    case 'SRV':
    case 'CNAME':
    case 'NS':
      return text
        .split(/[ \t]+/)
        .map((part, i, all) => (i === all.length - 1 ? normalizeZoneName(part) : part))
        .join(' ');
    case 'CAA':
      return caaValue(text);
    case 'TLSA':
      return tlsaValue(text);
    default:
      return text;
  }
}

/** Joins the character-strings of a TXT record; text without quotation marks is taken as it is. */
function textOf(text: string): string {
  if (!text.startsWith('"')) return text;
  const octets: number[] = [];
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (sign === '"') quoted = !quoted;
    else if (sign === '\\') {
      const [digits] = /^\d{3}/.exec(text.slice(at + 1, at + 4)) ?? [];
      octets.push(digits === undefined ? text.charCodeAt(at + 1) & 0xff : Number(digits) & 0xff);
      at += digits === undefined ? 1 : 3;
    } else if (quoted) octets.push(...Buffer.from(sign));
  }
  return Buffer.from(octets).toString('utf8');
}

function caaValue(text: string): string {
  const [flags = '0', tag = '', ...rest] = text.split(/[ \t]+/);
  return `${flags} ${tag.toLowerCase()} "${rest.join(' ').replace(/^"|"$/g, '')}"`;
}

/** The hash may be in several parts. RFC 6698 2.2. */
function tlsaValue(text: string): string {
  const [usage = '', selector = '', matchingType = '', ...hash] = text.split(/[ \t]+/);
  return [usage, selector, matchingType, hash.join('').toLowerCase()].join(' ');
}

/** Writes the data of a record in zone file form, with absolute names. */
export function dataOf({ type, value }: Pick<NewEntry, 'type' | 'value'>): string {
  if (type === 'TXT') return quotedText(value);
  return type === 'CAA' || type === 'TLSA' ? value : `${value}.`;
}

/** Splits a text into quoted strings of at most 255 octets. */
function quotedText(text: string): string {
  const octets = Buffer.from(text);
  const parts: string[] = [];
  for (let at = 0; at < octets.length || at === 0; at += 255) {
    const part = octets.subarray(at, at + 255).toString('latin1');
    const escaped = part.replace(/["\\]/g, '\\$&').replace(/[^\x20-\x7e]/g, (one) => {
      return `\\${one.charCodeAt(0).toString().padStart(3, '0')}`;
    });
    parts.push(`"${escaped}"`);
  }
  return parts.join(' ');
}

/** Name relative to the zone; `apex` for the zone itself. */
export function relativeName(name: string, zone: string, apex: string): string {
  return name === zone ? apex : name.slice(0, -zone.length - 1);
}

/** Full name of a relative one. */
export function absoluteName(relative: string, zone: string): string {
  const name = normalizeZoneName(relative);
  return name === '' || name === '@' ? zone : `${name}.${zone}`;
}

/** True if both records are the same. */
export function isSameEntry(
  a: Pick<ZoneEntry, 'type' | 'name' | 'value'>,
  b: Pick<ZoneEntry, 'type' | 'name' | 'value'>,
): boolean {
  return a.type === b.type && a.name === b.name && a.value === b.value;
}
