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
  type RequiredRecord,
  requiredRecords,
  SPF_TEXT,
} from './records.ts';
import { ownDmarcPolicy } from '../reports/policy-queries.ts';
import { ownStsPolicy } from './sts-queries.ts';

/** Maximum labels of a name below a served domain. */
const MAX_LABELS = 10;

/**
 * Zones of this box's name server: `dkim.HOSTNAME`, where every key has a permanent name, and the domains delegated to this
 * box. Read from the store for each query, so that a change applies at once.
 */
export function boxZones(store: Store, resolver: Resolver, hostname: string): FindZone {
  const keys = keyZone(hostname);
  return async (name) => {
    if (name === keys || name.endsWith(`.${keys}`)) return keyAnswer(store, resolver, hostname, name);
    const labels = name.split('.');
    for (let at = Math.max(0, labels.length - MAX_LABELS); at < labels.length - 1; at++) {
      const apex = labels.slice(at).join('.');
      const claim = await store.read(managedDomain, { name: apex });
      if (claim !== undefined) return domainAnswer(store, hostname, { ...claim, apex, name });
    }
    return undefined;
  };
}

async function keyAnswer(store: Store, resolver: Resolver, hostname: string, name: string): Promise<ZoneAnswer> {
  const apex = keyZone(hostname);
  const zone = { apex, server: hostname };
  if (name === apex) return { ...zone, exists: true, records: [{ type: 'NS', value: hostname }] };
  // The zone is not signed, so that DANE needs copies of these records in a zone that is. RFC 7672 2.2.
  if (name === `_25._tcp.${apex}`) {
    const all = await store.read(publishedTlsKeys, { name: hostname });
    return { ...zone, exists: true, records: all.map(({ spki }) => ({ type: 'TLSA', value: spki })) };
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
  hostname: string,
  { id, delegation, apex, name }: { id: number; delegation: Delegation; apex: string; name: string },
): Promise<ZoneAnswer> {
  const keys = await store.read(publishedKeys, { domain: id });
  const sts = await store.read(ownStsPolicy, { domain: id });
  const dmarc = await store.read(ownDmarcPolicy, { domain: id });
  const setup = requiredRecords({ id, name: apex, keys, sts }, hostname, false).filter(
    ({ purpose }) => purpose === 'mta_sts' || purpose === 'tls_reports' || purpose === 'client_setup',
  );
  const servers = serverNames(delegation, id, hostname).map((value): ZoneRecord => ({ type: 'NS', value }));
  const records = new Map<string, ZoneRecord[]>([
    [apex, [...servers, { type: 'MX', value: hostname, priority: MX_PRIORITY }, txt(SPF_TEXT)]],
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
