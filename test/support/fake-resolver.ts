import type { Lookup, MxRecord, Resolver, SrvRecord } from '../../mail/dns/lookup.ts';

/** Records by `TYPE name` as in a zone file, or a kind of trouble. A name without any key does not exist. */
export type FakeZone = Record<string, readonly string[] | 'trouble'>;

/** A resolver that answers from `zone`, which may be changed at any time; `asked` grows with each question. */
export function fakeResolver(zone: FakeZone): Resolver & { queried: string[]; zone: FakeZone } {
  const queried: string[] = [];
  const look = <T>(type: string, name: string, read: (text: string) => T): Promise<Lookup<T>> => {
    queried.push(`${type} ${name}`);
    const found = zone[`${type} ${name}`];
    if (found === 'trouble') return Promise.resolve({ kind: 'trouble', why: `${type} of ${name}: the DNS is down` });
    if (found !== undefined) return Promise.resolve({ kind: 'found', records: found.map(read) });
    return Promise.resolve({ kind: 'none', nx: !Object.keys(zone).some((key) => key.endsWith(` ${name}`)) });
  };
  const same = (text: string): string => text;
  return {
    queried,
    zone,
    mx: (name) => look('MX', name, mxRecord),
    a: (name) => look('A', name, same),
    aaaa: (name) => look('AAAA', name, same),
    txt: (name) => look('TXT', name, same),
    ns: (name) => look('NS', name, same),
    cname: (name) => look('CNAME', name, same),
    srv: (name) => look('SRV', name, srvRecord),
    ptr: (ip) => look('PTR', ip, same),
  };
}

function srvRecord(text: string): SrvRecord {
  const [priority = '0', weight = '0', port = '0', target = ''] = text.split(' ');
  return {
    priority: Number(priority),
    weight: Number(weight),
    port: Number(port),
    target: target === '.' ? '' : target,
  };
}

function mxRecord(text: string): MxRecord {
  const [preference = '0', exchange = ''] = text.split(' ');
  return { preference: Number(preference), exchange: exchange === '.' ? '' : exchange };
}
