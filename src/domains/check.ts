import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';
import { checkSendingServer, type SendingServer } from './sending-server.ts';
import type { SpfCheck } from './spf.ts';
import { spfTexts } from './spf-record.ts';
import { isPaccDigest, isSamePaccDigest } from '../client-setup/pacc.ts';
import type { PublishedKey } from './queries.ts';
import {
  type PublishedDomain,
  type RecordServer,
  type RecordStatus,
  type SeenRecord,
  type RequiredRecord,
  requiredRecords,
} from './records.ts';

export interface RecordCheck {
  status: 'pass' | 'fail' | 'pending';
  detail?: string;
  observed?: string[];
}

export type CheckName = 'sendingIdentity' | 'dkim' | 'inboundMx' | 'spf' | 'dmarc';
export type RecordChecks = Record<CheckName, RecordCheck>;

/** Result of looking up the DNS records of a domain. */
export interface DomainExamination {
  checks: RecordChecks;
  /** Records by {@link recordKey}. */
  seen: Record<string, SeenRecord>;
  /** Selectors under which our own key was found. */
  selectors: string[];
}

export const recordKey = ({ type, name }: Pick<RequiredRecord, 'type' | 'name'>): string => `${type} ${name}`;

/** Result of the three checks that verify a domain. */
export function domainVerdict({ sendingIdentity, dkim, inboundMx }: RecordChecks): 'pass' | 'fail' | 'trouble' {
  const all = [sendingIdentity, dkim, inboundMx].map((one) => one.status);
  if (all.includes('fail')) return 'fail';
  return all.includes('pending') ? 'trouble' : 'pass';
}

/** Looks up every record of a domain. Never rejects; a lookup without a timely answer counts as pending and unknown. */
export async function examineDomain(
  given: Resolver,
  domain: PublishedDomain,
  box: SendingServer & RecordServer,
): Promise<DomainExamination> {
  const resolver = asksOnce(given);
  const { hostname } = box;
  const records = requiredRecords(domain, box);
  const [mx, spf, dmarc, identity, ...keys] = await Promise.all([
    resolver.mx(domain.name),
    resolver.txt(domain.name),
    resolver.txt(`_dmarc.${domain.name}`),
    checkSendingServer(resolver, domain.name, box).then(identityCheck),
    ...domain.keys.map(async (key) => ({
      key,
      found: await resolver.txt(`${key.selector}._domainkey.${domain.name}`),
    })),
  ]);
  const there = keys.filter(({ key, found }) => holdsKey(found, key.text)).map(({ key }) => key);
  const selectors = there.map((key) => key.selector);
  const seen: Record<string, SeenRecord> = {};
  for (const record of records) {
    const found = await look(resolver, record, selectors);
    seen[recordKey(record)] = record.purpose === 'spf' ? spfStatus(found, identity) : found;
  }
  const exchanges = listed(mx, (one) => `${one.preference} ${one.exchange}`);
  const spfSeen = listed(spf, (text) => text).filter((text) => spfTexts([text]).length > 0);
  return {
    selectors,
    seen,
    checks: {
      sendingIdentity: { ...identity, observed: shown(spfSeen) },
      spf: { ...identity, observed: shown(spfSeen) },
      dkim: dkimCheck(keys, there, domain),
      inboundMx: {
        ...recordCheckOf(mx, (one) => one.exchange === hostname, `no MX of ${domain.name} is ${hostname}`),
        observed: shown(exchanges),
      },
      dmarc: recordCheckOf(dmarc, isDmarc, 'advice: without a DMARC record others can forge your address'),
    },
  };
}

/** A different SPF record is as good if it authorizes this server, and the wanted one is not enough while it does not. */
function spfStatus({ status, observed }: SeenRecord, identity: RecordCheck): SeenRecord {
  if (identity.status === 'pass') return { status: 'ok', observed };
  const why = identity.detail === undefined ? {} : { why: identity.detail };
  if (identity.status === 'pending') return { status: 'unknown', observed, ...why };
  return { status: status === 'missing' ? 'missing' : 'mismatch', observed, ...why };
}

function identityCheck({ status, detail }: SpfCheck): RecordCheck {
  return { status, ...(detail !== '' && { detail: clean(detail) }) };
}

function dkimCheck(
  keys: readonly { found: Lookup<string> }[],
  there: readonly PublishedKey[],
  { name }: PublishedDomain,
): RecordCheck {
  const observed = shown(keys.flatMap(({ found }) => listed(found, (text) => text)));
  // A retired key stays published for old mail; new mail needs another one.
  const selectors = there.filter((key) => key.state !== 'retired').map((key) => key.selector);
  if (selectors.length > 0) return { status: 'pass', detail: `found our key at ${selectors.join(', ')}`, observed };
  const trouble = keys.map(({ found }) => found).find((found) => found.kind === 'trouble');
  if (trouble?.kind === 'trouble') return { status: 'pending', detail: clean(trouble.why), observed };
  return { status: 'fail', detail: `no selector of ${name} has a key of this organization`, observed };
}

/** Status of one record. A DKIM record is right if the key is found through it, however it was published. */
async function look(resolver: Resolver, record: RequiredRecord, selectors: readonly string[]): Promise<SeenRecord> {
  switch (record.purpose) {
    case 'inbound_mx': {
      const found = await resolver.mx(record.name);
      return seenAs(
        found,
        (one) => one.exchange === record.value,
        (one) => `${one.preference} ${one.exchange}`,
      );
    }
    case 'spf': {
      const found = await resolver.txt(record.name);
      const only = found.kind === 'found' ? narrowed(found, spfTexts(found.records)) : found;
      return seenAs(
        only,
        (text) => text.toLowerCase() === record.value,
        (text) => text,
      );
    }
    case 'client_setup':
      return record.type === 'TXT' ? lookDigest(resolver, record) : lookSetup(resolver, record);
    case 'mta_sts':
      return lookSetup(resolver, record);
    case 'tls_reports':
      // Reports may also go to a service that reads them.
      return seenAs(
        await resolver.txt(record.name),
        (text) => /^v=TLSRPTv1\s*;/.test(text),
        (text) => text,
      );
    case 'dmarc':
      return seenAs(await resolver.txt(record.name), isDmarc, (text) => text);
    case 'dkim': {
      const mine = selectors.includes(record.selector ?? '');
      const found = record.type === 'CNAME' ? await resolver.cname(record.name) : await resolver.txt(record.name);
      // A right CNAME without a key behind it: the delegation of the key zone is missing.
      if (mine) return { status: 'ok', observed: shown(listed(found, (text) => text)) };
      return seenAs(
        found,
        (text) => record.type === 'CNAME' && text === record.value,
        (text) => text,
      );
    }
  }
}

const STALE_DIGEST =
  'this digest belongs to an older document or to another server: replace it by the value shown; until then mail programs reject the settings document';

/** Status of the digest of the settings document. One of several may be right: the old one stays during a change. */
async function lookDigest(resolver: Resolver, { name, value }: RequiredRecord): Promise<SeenRecord> {
  const found = await resolver.txt(name);
  const digests = found.kind === 'found' ? narrowed(found, found.records.filter(isPaccDigest)) : found;
  const seen = seenAs(
    digests,
    (text) => isSamePaccDigest(text, value),
    (text) => text,
  );
  return seen.status === 'mismatch' ? { ...seen, why: STALE_DIGEST } : seen;
}

/** Status of a record that makes set-up easier. A host is as good by address records of its own as by a CNAME. */
async function lookSetup(resolver: Resolver, { type, name, value }: RequiredRecord): Promise<SeenRecord> {
  switch (type) {
    case 'TXT':
      return seenAs(
        await resolver.txt(name),
        (text) => text === value,
        (text) => text,
      );
    case 'CNAME': {
      const [alias, own, here] = await Promise.all([resolver.cname(name), resolver.a(name), resolver.a(value)]);
      const ours = listed(here, (ip) => ip);
      if (alias.kind !== 'found' && own.kind === 'found')
        return seenAs(
          own,
          (ip) => ours.includes(ip),
          (ip) => ip,
        );
      return seenAs(
        alias,
        (target) => target === value,
        (target) => target,
      );
    }
    case 'SRV':
      return seenAs(
        await resolver.srv(name),
        ({ port, target }) => value.endsWith(` ${port} ${target}`),
        (one) => `${one.priority} ${one.weight} ${one.port} ${one.target}`,
      );
    case 'MX':
      return { status: 'unknown', observed: [] };
  }
}

function narrowed(found: Lookup<string>, records: readonly string[]): Lookup<string> {
  return records.length === 0 ? { kind: 'none', nx: false } : { ...found, kind: 'found', records };
}

function seenAs<T>(found: Lookup<T>, right: (one: T) => boolean, show: (one: T) => string): SeenRecord {
  const observed = shown(listed(found, show));
  return { status: statusOf(found, right), observed };
}

function statusOf<T>(found: Lookup<T>, right: (one: T) => boolean): RecordStatus {
  switch (found.kind) {
    case 'found':
      return found.records.some(right) ? 'ok' : 'mismatch';
    case 'none':
      return 'missing';
    case 'trouble':
      return 'unknown';
  }
}

function recordCheckOf<T>(found: Lookup<T>, right: (one: T) => boolean, why: string): RecordCheck {
  if (found.kind === 'trouble') return { status: 'pending', detail: clean(found.why) };
  return found.kind === 'found' && found.records.some(right) ? { status: 'pass' } : { status: 'fail', detail: why };
}

const isDmarc = (text: string): boolean => /^v=DMARC1\s*(?:;|$)/i.test(text);

/** Compares keys only: tags may be in any order, with white space. RFC 6376 3.6.1. */
function holdsKey(found: Lookup<string>, text: string): boolean {
  const wanted = keyOf(text);
  return found.kind === 'found' && found.records.some((record) => keyOf(record) === wanted);
}

/** Removes white space first: a pattern that allows for it takes hours for a record of blanks. */
function keyOf(text: string): string | undefined {
  const tag = text
    .replace(/\s+/g, '')
    .split(';')
    .find((one) => one.startsWith('p='));
  return tag === undefined || tag === 'p=' ? undefined : tag.slice(2);
}

function listed<T>(found: Lookup<T>, show: (one: T) => string): string[] {
  return found.kind === 'found' ? found.records.map(show) : [];
}

const shown = (texts: readonly string[]): string[] => texts.slice(0, 5).map(clean);

/** Cleans text from others' DNS for display: one line, no controls, at most 500 characters. */
function clean(text: string): string {
  const plain = text.toWellFormed().replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, '\ufffd');
  return plain.length <= 500 ? plain : `${plain.slice(0, 500)}...`;
}

/** Caches lookups: several records depend on the same one. */
export function asksOnce(resolver: Resolver): Resolver {
  const cache = new Map<string, Promise<Lookup<never>>>();
  const once = <T>(type: string, name: string, ask: () => Promise<Lookup<T>>): Promise<Lookup<T>> => {
    const key = `${type} ${name}`;
    const known = cache.get(key) ?? (ask() as Promise<Lookup<never>>);
    cache.set(key, known);
    return known;
  };
  return {
    mx: (name) => once('MX', name, () => resolver.mx(name)),
    a: (name) => once('A', name, () => resolver.a(name)),
    aaaa: (name) => once('AAAA', name, () => resolver.aaaa(name)),
    txt: (name) => once('TXT', name, () => resolver.txt(name)),
    ns: (name) => once('NS', name, () => resolver.ns(name)),
    cname: (name) => once('CNAME', name, () => resolver.cname(name)),
    srv: (name) => once('SRV', name, () => resolver.srv(name)),
    ptr: (ip) => once('PTR', ip, () => resolver.ptr(ip)),
  };
}

/** Limits a resolver to `ms` from now; later answers become trouble. */
export function within(resolver: Resolver, ms: number): Resolver {
  const late = new Promise<Lookup<never>>((resolve) => {
    setTimeout(() => resolve({ kind: 'trouble', why: 'DNS timeout' }), ms).unref();
  });
  const race = <T>(lookup: Promise<Lookup<T>>): Promise<Lookup<T>> => Promise.race([lookup, late]);
  return {
    mx: (name) => race(resolver.mx(name)),
    a: (name) => race(resolver.a(name)),
    aaaa: (name) => race(resolver.aaaa(name)),
    txt: (name) => race(resolver.txt(name)),
    ns: (name) => race(resolver.ns(name)),
    cname: (name) => race(resolver.cname(name)),
    srv: (name) => race(resolver.srv(name)),
    ptr: (ip) => race(resolver.ptr(ip)),
  };
}
