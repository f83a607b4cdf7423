import { characterStrings } from '../dns/zone.ts';
import { publicId } from '../ids.ts';
import type { PublishedKey } from './queries.ts';

export type RecordStatus = 'ok' | 'missing' | 'mismatch' | 'unknown';

/** A record that a domain needs, before anybody has looked whether it is there. */
export interface WantedRecord {
  purpose: 'inbound_mx' | 'dkim' | 'spf' | 'dmarc';
  type: 'MX' | 'TXT' | 'CNAME';
  /** Whole, without a dot at the end. */
  name: string;
  /** Of an MX without the priority, of a TXT whole and unquoted. */
  value: string;
  priority?: number;
  ttl: number;
  /** The domain is not verified without it. */
  required: boolean;
  /** Of a DKIM record. */
  selector?: string;
}

export interface SeenRecord {
  status: RecordStatus;
  observed: string[];
}

export interface Published {
  id: number;
  name: string;
  keys: readonly PublishedKey[];
}

/** Where this box's own name server has the keys. */
export function keyZone(hostname: string): string {
  return `dkim.${hostname}`;
}

/**
 * A name that means one claim and no other, for delegations of a name that several claim. Without the underscore of an
 * id: registries take only names of hosts for name servers. RFC 1123 2.1.
 */
export function ownServer(domain: number, hostname: string): string {
  return `${publicId('domain', domain).replace('_', '-')}.ns.${keyZone(hostname)}`;
}

const TTL = 3600;
export const SPF_TEXT = 'v=spf1 mx ~all';
export const DMARC_TEXT = 'v=DMARC1; p=none';
export const MX_PRIORITY = 10;
const ALL_SELECTORS = ['ms1', 'ms2', 'ms3', 'ms4'];

/**
 * The records to publish for a domain. With `byName` the keys stand in this box's own DNS under names that stay, and
 * every selector leads there from the start, so that keys change without anybody's doing.
 */
export function wantedRecords(domain: Published, hostname: string, byName: boolean): WantedRecord[] {
  const { name } = domain;
  return [
    {
      purpose: 'inbound_mx',
      type: 'MX',
      name,
      value: hostname,
      priority: MX_PRIORITY,
      ttl: TTL,
      required: true,
    },
    ...(byName ? namedKeys(domain, hostname) : keyTexts(domain)),
    { purpose: 'spf', type: 'TXT', name, value: SPF_TEXT, ttl: TTL, required: true },
    { purpose: 'dmarc', type: 'TXT', name: `_dmarc.${name}`, value: DMARC_TEXT, ttl: TTL, required: false },
  ];
}

function namedKeys({ id, name, keys }: Published, hostname: string): WantedRecord[] {
  return ALL_SELECTORS.map((selector) => ({
    purpose: 'dkim',
    type: 'CNAME',
    name: `${selector}._domainkey.${name}`,
    value: `${selector}.${publicId('domain', id)}.${keyZone(hostname)}`,
    ttl: TTL,
    required: keys.some((key) => key.selector === selector && isNeeded(key)),
    selector,
  }));
}

function keyTexts({ name, keys }: Published): WantedRecord[] {
  return keys.map((key) => ({
    purpose: 'dkim',
    type: 'TXT',
    name: `${key.selector}._domainkey.${name}`,
    value: key.text,
    ttl: TTL,
    required: isNeeded(key),
    selector: key.selector,
  }));
}

/** One key is enough for a proof, and every verifier knows RSA. RFC 8463 3. */
function isNeeded({ state, algorithm }: PublishedKey): boolean {
  return state === 'signs' && algorithm === 'rsa-sha256';
}

/** Lines of a zone file, to be pasted. Long texts are cut into strings of at most 255 octets. RFC 1035 5.1. */
export function zoneText(records: readonly WantedRecord[], notes: readonly string[]): string {
  const lines = records.map((record) => `${record.name}. ${record.ttl} IN ${record.type} ${rdata(record)}`);
  return [...notes.map((note) => `; ${note}`), ...lines, ''].join('\n');
}

function rdata({ type, value, priority }: WantedRecord): string {
  switch (type) {
    case 'MX':
      return `${priority ?? MX_PRIORITY} ${value}.`;
    case 'CNAME':
      return `${value}.`;
    case 'TXT':
      return characterStrings(value)
        .map((part) => `"${part.replace(/["\\]/g, '\\$&')}"`)
        .join(' ');
  }
}
