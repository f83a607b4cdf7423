import type { Settings } from '../../config/settings.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import type { FindZone, ZoneAnswer, ZoneRecord } from '../name-server/zone.ts';
import { publishedTlsKeys } from '../certificates/queries.ts';
import { rowId } from '../core/ids.ts';
import { type Delegation, keyText, managedDomain, publishedKeys } from './queries.ts';
import { serverNames } from './look.ts';
import {
  dmarcText,
  keyZone,
  MX_PRIORITY,
  ownServer,
  recordServer,
  type RecordServer,
  type RequiredRecord,
  requiredRecords,
  spfText,
} from './records.ts';
import { ownDmarcPolicy } from '../reports/policy-queries.ts';
import { ownStsPolicy } from './sts-queries.ts';

/** Maximum labels of a name below a served domain. */
const MAX_LABELS = 10;

/** Facts about this server that its zones contain. */
export interface ZoneServer extends Omit<RecordServer, 'byName'> {
  /** The operator's own certificate files are in use: TLSA records of other keys would stop mail. */
  ownFiles?: boolean;
}

/** Reads them from the settings. */
export function zoneServer(settings: Parameters<typeof recordServer>[0] & Pick<Settings, 'tls'>): ZoneServer {
  return { ...recordServer(settings), ownFiles: settings.tls !== undefined };
}

/**
 * Zones of this box's name server: `dkim.HOSTNAME`, where every key has a permanent name, and the domains delegated to this
 * box. Read from the store for each query, so that a change applies at once.
 */
export function boxZones(store: Store, resolver: Resolver, server: ZoneServer): FindZone {
  const { hostname } = server;
  const keys = keyZone(hostname);
  return async (name) => {
    if (name === keys || name.endsWith(`.${keys}`)) return keyAnswer(store, resolver, server, name);
    const labels = name.split('.');
    for (let at = Math.max(0, labels.length - MAX_LABELS); at < labels.length - 1; at++) {
      const apex = labels.slice(at).join('.');
      const claim = await store.read(managedDomain, { name: apex });
      if (claim !== undefined) return domainAnswer(store, server, { ...claim, apex, name });
    }
    return undefined;
  };
}

async function keyAnswer(
  store: Store,
  resolver: Resolver,
  { hostname, ownFiles = false }: ZoneServer,
  name: string,
): Promise<ZoneAnswer> {
  const apex = keyZone(hostname);
  const zone = { apex, server: hostname };
  if (name === apex) return { ...zone, exists: true, records: [{ type: 'NS', value: hostname }] };
  // The host's own name is an alias of this one where its zone is signed. RFC 7671 7.
  if (name === `_25._tcp.${apex}`) {
    return { ...zone, exists: true, records: ownFiles ? [] : await tlsaRecords(store, hostname) };
  }
  if (name === `_tcp.${apex}`) return { ...zone, exists: true, records: [] };
  const labels = name.slice(0, -apex.length - 1).split('.');
  const [first = '', second] = labels;
  if (labels.length === 2 && second === 'ns') {
    const id = rowId('domain', first.replace('-', '_'));
    if (id === undefined || name !== ownServer(id, hostname)) return { ...zone, exists: false, records: [] };
    return { ...zone, exists: true, records: await ownAddresses(resolver, hostname) };
  }
  const id = labels.length > 2 ? undefined : rowId('domain', labels.at(-1) ?? '');
  if (labels.length === 1 && first === 'ns') return { ...zone, exists: true, records: [] };
  const published = id === undefined ? [] : await store.read(publishedKeys, { domain: id });
  if (id === undefined || published.length === 0) return { ...zone, exists: false, records: [] };
  if (labels.length === 1) return { ...zone, exists: true, records: [] };
  const text = await store.read(keyText, { domain: id, selector: first });
  // A selector reserved for the next key exists without records: a CNAME to it is right.
  const waiting = /^ms[1-4]$/.test(first);
  return { ...zone, exists: text !== undefined || waiting, records: text === undefined ? [] : [txt(text)] };
}

/** Before the first certificate there are none: the self-signed one in use has another key. */
async function tlsaRecords(store: Store, hostname: string): Promise<ZoneRecord[]> {
  const keys = await store.read(publishedTlsKeys, { name: hostname });
  if (!keys.some(({ state }) => state === 'used')) return [];
  return keys.map(({ spki }) => ({ type: 'TLSA', value: spki }));
}

/** The box also answers to its claims' own server names, with the addresses of its public name. */
async function ownAddresses(resolver: Resolver, hostname: string): Promise<ZoneRecord[]> {
  const [four, six] = await Promise.all([resolver.a(hostname), resolver.aaaa(hostname)]);
  return [
    ...(four.kind === 'found' ? four.records.map((value) => ({ type: 'A' as const, value })) : []),
    ...(six.kind === 'found' ? six.records.map((value) => ({ type: 'AAAA' as const, value })) : []),
  ];
}

async function domainAnswer(
  store: Store,
  server: ZoneServer,
  { id, delegation, apex, name }: { id: number; delegation: Delegation; apex: string; name: string },
): Promise<ZoneAnswer> {
  const { hostname, outbound } = server;
  const keys = await store.read(publishedKeys, { domain: id });
  const sts = await store.read(ownStsPolicy, { domain: id });
  const dmarc = await store.read(ownDmarcPolicy, { domain: id });
  const setup = requiredRecords({ id, name: apex, keys, sts }, { ...server, byName: false }).filter(
    ({ purpose }) => purpose === 'mta_sts' || purpose === 'tls_reports' || purpose === 'client_setup',
  );
  const servers = serverNames(delegation, id, hostname).map((value): ZoneRecord => ({ type: 'NS', value }));
  const records = new Map<string, ZoneRecord[]>([
    [apex, [...servers, { type: 'MX', value: hostname, priority: MX_PRIORITY }, txt(spfText(outbound))]],
    [`_dmarc.${apex}`, [txt(dmarcText(apex, dmarc))]],
    ...keys.map((key): [string, ZoneRecord[]] => [`${key.selector}._domainkey.${apex}`, [txt(key.text)]]),
    ...setup.map((record): [string, ZoneRecord[]] => [record.name, [setupRecord(record)]]),
  ]);
  const exists = [...records.keys()].some((one) => one === name || one.endsWith(`.${name}`));
  return { apex, server: hostname, exists, records: records.get(name) ?? [] };
}

function setupRecord({ type, value, priority = 0 }: RequiredRecord): ZoneRecord {
  if (type !== 'SRV') return type === 'TXT' ? txt(value) : { type: 'CNAME', value };
  const [weight, port, target = ''] = value.split(' ');
  return { type, priority, weight: Number(weight), port: Number(port), value: target };
}

const txt = (value: string): ZoneRecord => ({ type: 'TXT', value });
