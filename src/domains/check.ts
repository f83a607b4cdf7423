import type { Lookup, Resolver } from '../../mail/dns/lookup.ts';
import { authorises } from './spf.ts';
import { spfTexts } from './spf-record.ts';
import type { PublishedKey } from './queries.ts';
import { type Published, type RecordStatus, type SeenRecord, type WantedRecord, wantedRecords } from './records.ts';

export interface Check {
  status: 'pass' | 'fail' | 'pending';
  detail?: string;
  observed?: string[];
}

export type CheckName = 'sendingIdentity' | 'dkim' | 'inboundMx' | 'spf' | 'dmarc';
export type Checks = Record<CheckName, Check>;

/** What one look at the DNS of a domain found. */
export interface Examined {
  checks: Checks;
  /** By {@link recordKey}. */
  seen: Record<string, SeenRecord>;
  /** Selectors under which our own key was found. */
  selectors: string[];
}

export const recordKey = ({ type, name }: Pick<WantedRecord, 'type' | 'name'>): string => `${type} ${name}`;

/** Whether a domain is proved, by the three checks that count. */
export function verdictOf({ sendingIdentity, dkim, inboundMx }: Checks): 'pass' | 'fail' | 'trouble' {
  const all = [sendingIdentity, dkim, inboundMx].map((one) => one.status);
  if (all.includes('fail')) return 'fail';
  return all.includes('pending') ? 'trouble' : 'pass';
}

/** Looks every record of a domain up. Never rejects; what the DNS does not answer in time is pending and unknown. */
export async function examine(
  given: Resolver,
  domain: Published,
  box: { hostname: string; byName: boolean },
): Promise<Examined> {
  const resolver = asksOnce(given);
  const { hostname } = box;
  const records = wantedRecords(domain, hostname, box.byName);
  const [mx, spf, dmarc, identity, ...keys] = await Promise.all([
    resolver.mx(domain.name),
    resolver.txt(domain.name),
    resolver.txt(`_dmarc.${domain.name}`),
    sendingIdentity(resolver, domain.name, hostname),
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
    // Another SPF record than the proposed one is as good when it lets this box send.
    const good = record.purpose === 'spf' && identity.status === 'pass';
    seen[recordKey(record)] = good ? { ...found, status: 'ok' } : found;
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
        ...judged(mx, (one) => one.exchange === hostname, `no MX of ${domain.name} is ${hostname}`),
        observed: shown(exchanges),
      },
      dmarc: judged(dmarc, isDmarc, 'advice: without a DMARC record others can write in your name'),
    },
  };
}

async function sendingIdentity(resolver: Resolver, domain: string, hostname: string): Promise<Check> {
  const [four, six] = await Promise.all([resolver.a(hostname), resolver.aaaa(hostname)]);
  const addresses = [listed(four, (ip) => ip)[0], listed(six, (ip) => ip)[0]].filter((ip) => ip !== undefined);
  const { status, detail } = await authorises(resolver, domain, { hostname, addresses });
  return { status, ...(detail !== '' && { detail: clean(detail) }) };
}

function dkimCheck(
  keys: readonly { found: Lookup<string> }[],
  there: readonly PublishedKey[],
  { name }: Published,
): Check {
  const observed = shown(keys.flatMap(({ found }) => listed(found, (text) => text)));
  // A key that signs no more is published on for old mail; new mail needs another one.
  const selectors = there.filter((key) => key.state !== 'retired').map((key) => key.selector);
  if (selectors.length > 0) return { status: 'pass', detail: `found our key at ${selectors.join(', ')}`, observed };
  const trouble = keys.map(({ found }) => found).find((found) => found.kind === 'trouble');
  if (trouble?.kind === 'trouble') return { status: 'pending', detail: clean(trouble.why), observed };
  return { status: 'fail', detail: `no selector of ${name} leads to the key of this organization`, observed };
}

/** How one record stands. A DKIM record is right when the key is found through it, however it was published. */
async function look(resolver: Resolver, record: WantedRecord, selectors: readonly string[]): Promise<SeenRecord> {
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
    case 'dmarc':
      return seenAs(await resolver.txt(record.name), isDmarc, (text) => text);
    case 'dkim': {
      const mine = selectors.includes(record.selector ?? '');
      const found = record.type === 'CNAME' ? await resolver.cname(record.name) : await resolver.txt(record.name);
      // Through a CNAME that is right to a key that is not found: the delegation of the key zone is missing.
      if (mine) return { status: 'ok', observed: shown(listed(found, (text) => text)) };
      return seenAs(
        found,
        (text) => record.type === 'CNAME' && text === record.value,
        (text) => text,
      );
    }
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

function judged<T>(found: Lookup<T>, right: (one: T) => boolean, why: string): Check {
  if (found.kind === 'trouble') return { status: 'pending', detail: clean(found.why) };
  return found.kind === 'found' && found.records.some(right) ? { status: 'pass' } : { status: 'fail', detail: why };
}

const isDmarc = (text: string): boolean => /^v=DMARC1\s*(?:;|$)/i.test(text);

/** RFC 6376 3.6.1: the tags may stand in any order and with white space; the key itself is what counts. */
function holdsKey(found: Lookup<string>, text: string): boolean {
  const wanted = keyOf(text);
  return found.kind === 'found' && found.records.some((record) => keyOf(record) === wanted);
}

/** White space goes first: an expression that allows for it everywhere takes hours for a record made of blanks. */
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

/** What stands in other people's DNS, fit to be shown: one line, without controls, not too long. */
function clean(text: string): string {
  const plain = text.toWellFormed().replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, '\ufffd');
  return plain.length <= 500 ? plain : `${plain.slice(0, 500)}...`;
}

/** The same question is asked once in one look, however many records depend on it. */
function asksOnce(resolver: Resolver): Resolver {
  const asked = new Map<string, Promise<Lookup<never>>>();
  const once = <T>(type: string, name: string, ask: () => Promise<Lookup<T>>): Promise<Lookup<T>> => {
    const key = `${type} ${name}`;
    const known = asked.get(key) ?? (ask() as Promise<Lookup<never>>);
    asked.set(key, known);
    return known;
  };
  return {
    mx: (name) => once('MX', name, () => resolver.mx(name)),
    a: (name) => once('A', name, () => resolver.a(name)),
    aaaa: (name) => once('AAAA', name, () => resolver.aaaa(name)),
    txt: (name) => once('TXT', name, () => resolver.txt(name)),
    ns: (name) => once('NS', name, () => resolver.ns(name)),
    cname: (name) => once('CNAME', name, () => resolver.cname(name)),
    ptr: (ip) => once('PTR', ip, () => resolver.ptr(ip)),
  };
}

/** The resolver until `ms` from now; what takes longer is trouble. */
export function within(resolver: Resolver, ms: number): Resolver {
  const late = new Promise<Lookup<never>>((resolve) => {
    setTimeout(() => resolve({ kind: 'trouble', why: 'the DNS did not answer in time' }), ms).unref();
  });
  const race = <T>(lookup: Promise<Lookup<T>>): Promise<Lookup<T>> => Promise.race([lookup, late]);
  return {
    mx: (name) => race(resolver.mx(name)),
    a: (name) => race(resolver.a(name)),
    aaaa: (name) => race(resolver.aaaa(name)),
    txt: (name) => race(resolver.txt(name)),
    ns: (name) => race(resolver.ns(name)),
    cname: (name) => race(resolver.cname(name)),
    ptr: (ip) => race(resolver.ptr(ip)),
  };
}
