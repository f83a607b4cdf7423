import { createHash } from 'node:crypto';
import type { ProviderResponse } from '../../../src/dns-providers/transport.ts';
import {
  absolute,
  bodyOf,
  FAKE_ZONE,
  type FakeDnsApi,
  type FakeRecord,
  FakeZoneState,
  json,
  pageOf,
  partsOf,
  relative,
  undotted,
  unquoted,
} from './fake-dns-api.ts';

/** Parts of the data of a record. */
function fieldsOf({ type, data }: FakeRecord): { priority?: number; weight?: number; port?: number; target: string } {
  const parts = undotted(data).split(' ');
  if (type === 'MX') return { priority: Number(parts[0]), target: parts[1] ?? '' };
  if (type !== 'SRV') return { target: type === 'TXT' ? data : undotted(data) };
  return { priority: Number(parts[0]), weight: Number(parts[1]), port: Number(parts[2]), target: parts[3] ?? '' };
}

type Body = Record<string, string | number> & { data?: Record<string, string | number> | string };

/** Cloudflare as https://developers.cloudflare.com/api describes it. */
export function fakeCloudflare(): FakeDnsApi {
  const zone = new FakeZoneState();
  const dataOf = (body: Body): string => {
    const { type, content = '', priority, data } = body;
    const fields = typeof data === 'object' ? data : {};
    switch (String(type)) {
      case 'MX':
        return `${priority ?? ''} ${content}.`;
      case 'SRV':
        return `${fields['priority'] ?? ''} ${fields['weight'] ?? ''} ${fields['port'] ?? ''} ${fields['target'] ?? ''}.`;
      case 'CAA':
        return `${fields['flags'] ?? ''} ${fields['tag'] ?? ''} "${fields['value'] ?? ''}"`;
      case 'TLSA':
        return ['usage', 'selector', 'matching_type', 'certificate'].map((name) => fields[name] ?? '').join(' ');
      default:
        return type === 'TXT' ? String(content) : `${content}.`;
    }
  };
  const shown = (record: FakeRecord): object => {
    const { priority, weight, port, target } = fieldsOf(record);
    const content = record.type === 'SRV' ? `${weight ?? 0} ${port ?? 0} ${target}` : target;
    const { id, name, type, ttl } = record;
    return { id: String(id), name, type, ttl, content, ...(priority !== undefined && { priority }), proxied: false };
  };
  return {
    provider: 'cloudflare',
    credentials: { token: 'good' },
    zone,
    answer(request) {
      const fail = (code: number, message: string, status: number): ProviderResponse =>
        json({ success: false, errors: [{ code, message }], result: null }, status);
      if (request.headers['authorization'] !== 'Bearer good') return fail(10000, 'Authentication error', 403);
      const [, id, , batch] = partsOf(request, '/client/v4');
      if (id === undefined) {
        const there = request.url.searchParams.get('name') === FAKE_ZONE;
        return json({ success: true, errors: [], result: there ? [{ id: 'abc123', name: FAKE_ZONE }] : [] });
      }
      if (id !== 'abc123') return fail(7003, 'Could not route to zone', 404);
      if (batch === undefined) {
        const { items, page, pages } = pageOf(zone.records, request, 'per_page', 5000);
        return json({ success: true, result: items.map(shown), result_info: { page, total_pages: pages } });
      }
      const { deletes = [], posts = [] } = bodyOf<{ deletes?: { id: string }[]; posts?: Body[] }>(request);
      if (deletes.some((one) => !zone.records.some((record) => String(record.id) === one.id))) {
        return fail(81044, 'Record does not exist.', 404);
      }
      for (const one of deletes) zone.remove(Number(one.id));
      for (const one of posts) zone.add(String(one['name']), String(one['type']), Number(one['ttl']), dataOf(one));
      return json({ success: true, errors: [], result: {} });
    },
  };
}

/** DigitalOcean as https://docs.digitalocean.com/reference/api describes it. */
export function fakeDigitalOcean(): FakeDnsApi {
  const zone = new FakeZoneState();
  const dataOf = (body: Body): string => {
    const data = typeof body.data === 'string' ? body.data : '';
    switch (String(body['type'])) {
      case 'MX':
        return `${body['priority'] ?? ''} ${data}`;
      case 'SRV':
        return `${body['priority'] ?? ''} ${body['weight'] ?? ''} ${body['port'] ?? ''} ${data}`;
      case 'CAA':
        return `${body['flags'] ?? ''} ${body['tag'] ?? ''} "${undotted(data)}"`;
      case 'TXT':
        return `"${data.replace(/["\\]/g, '\\$&')}"`;
      default:
        return data;
    }
  };
  const shown = (record: FakeRecord): object => {
    const { id, type, name, ttl, data } = record;
    const { target, ...numbers } = fieldsOf(record);
    const [flags, tag] = type === 'CAA' ? data.split(' ') : [];
    const text = type === 'TXT' ? unquoted(data) : type === 'CAA' ? (data.split('"')[1] ?? '') : target;
    const caa = { flags: flags === undefined ? null : Number(flags), tag: tag ?? null };
    return {
      id,
      type,
      name: relative(name, '@'),
      data: text === FAKE_ZONE ? '@' : text,
      ttl,
      priority: null,
      ...numbers,
      ...caa,
    };
  };
  return {
    provider: 'digitalocean',
    credentials: { token: 'good' },
    zone,
    answer(request) {
      if (request.headers['authorization'] !== 'Bearer good') {
        return json({ id: 'Unauthorized', message: 'Unable to authenticate you' }, 401);
      }
      const [, name, , id] = partsOf(request, '/v2');
      if (name !== FAKE_ZONE) return json({ id: 'not_found', message: 'not found' }, 404);
      if (!request.url.pathname.includes('/records')) return json({ domain: { name, ttl: 1800 } });
      if (request.method === 'GET') {
        const { items, page, pages } = pageOf(zone.records, request, 'per_page', 200);
        const next = page < pages ? { pages: { next: `https://api.digitalocean.com/v2/?page=${page + 1}` } } : {};
        return json({ domain_records: items.map(shown), links: next, meta: { total: zone.records.length } });
      }
      if (request.method === 'DELETE') return zone.remove(Number(id)) ? json(undefined, 204) : json({}, 404);
      const body = bodyOf<Body>(request);
      if (request.method === 'POST') {
        zone.add(absolute(String(body['name'])), String(body['type']), Number(body['ttl']), dataOf(body));
        return json({ domain_record: {} }, 201);
      }
      const there = zone.records.find((one) => one.id === Number(id));
      if (there === undefined) return json({ id: 'not_found', message: 'not found' }, 404);
      Object.assign(there, { data: dataOf(body), ttl: Number(body['ttl']) });
      return json({ domain_record: {} });
    },
  };
}

/** Porkbun as its documentation describes it: every failure is a 400 with words. */
export function fakePorkbun(): FakeDnsApi {
  const zone = new FakeZoneState();
  const error = (message: string): ProviderResponse => json({ status: 'ERROR', message }, 400);
  const dataOf = ({ type, content = '', prio }: Body): string => {
    if (type === 'TXT') return `"${String(content).replace(/["\\]/g, '\\$&')}"`;
    if (type === 'MX' || type === 'SRV') return `${prio ?? ''} ${content}.`;
    return type === 'CAA' || type === 'TLSA' ? String(content) : `${content}.`;
  };
  return {
    provider: 'porkbun',
    credentials: { apiKey: 'pk1_good', secretKey: 'sk1_good' },
    zone,
    answer(request) {
      if (request.headers['x-api-key'] !== 'pk1_good')
        return json({ status: 'ERROR', message: 'Invalid API key. (001)' }, 403);
      const [verb, name, id] = partsOf(request, '/api/json/v3/dns');
      if (name !== FAKE_ZONE) return error('Invalid domain.');
      const body = bodyOf<Body>(request);
      switch (verb ?? '') {
        case 'retrieve': {
          const records = zone.records.map((record) => {
            const { priority = 0, weight, port, target } = fieldsOf(record);
            const content = weight === undefined ? target : `${weight} ${port ?? 0} ${target}`;
            const text = record.type === 'TXT' ? unquoted(record.data) : content;
            const head = { id: String(record.id), name: record.name, type: record.type };
            return { ...head, content: text, ttl: String(record.ttl), prio: String(priority), notes: '' };
          });
          return json({ status: 'SUCCESS', cloudflare: 'enabled', records });
        }
        case 'create': {
          if (Number(body['ttl']) < 600) return error('Invalid TTL.');
          const { id: made } = zone.add(
            absolute(String(body['name'])),
            String(body['type']),
            Number(body['ttl']),
            dataOf(body),
          );
          return json({ status: 'SUCCESS', id: made });
        }
        case 'edit': {
          const there = zone.records.find((one) => String(one.id) === id);
          if (there === undefined) return error('Invalid record ID.');
          Object.assign(there, { data: dataOf(body), ttl: Number(body['ttl']) });
          return json({ status: 'SUCCESS' });
        }
        case 'delete':
          return zone.remove(Number(id)) ? json({ status: 'SUCCESS' }) : error('Invalid record ID.');
        default:
          return error('Unknown command.');
      }
    },
  };
}

/** OVH as https://eu.api.ovh.com/console describes it; checks the signatures. */
export function fakeOvh(): FakeDnsApi {
  const zone = new FakeZoneState();
  return {
    provider: 'ovh',
    credentials: { applicationKey: 'AK', applicationSecret: 'AS', consumerKey: 'CK' },
    zone,
    answer(request) {
      const { method, url, body = '', headers } = request;
      const signed = ['AS', 'CK', method, url.href, body, headers['x-ovh-timestamp'] ?? ''].join('+');
      const signature = `$1$${createHash('sha1').update(signed).digest('hex')}`;
      if (headers['x-ovh-signature'] !== signature) return json({ message: 'Invalid signature' }, 403);
      const [, name, what, id] = partsOf(request, '/1.0/domain');
      if (name !== FAKE_ZONE) return json({ message: 'This service does not exist' }, 404);
      if (what === undefined) return json({ name, dnssecSupported: true });
      if (what === 'refresh') return json(null);
      const there = zone.records.find((one) => one.id === Number(id));
      if (id === undefined && method === 'GET') {
        const full = absolute(url.searchParams.get('subDomain') ?? '');
        return json(zone.records.filter((one) => one.name === full).map((one) => one.id));
      }
      if (method === 'POST') {
        const { fieldType, subDomain, target, ttl } = bodyOf<Record<string, string>>(request);
        zone.add(absolute(subDomain ?? ''), fieldType ?? '', Number(ttl), target ?? '');
        return json({});
      }
      if (there === undefined) return json({ message: 'The requested object (id) does not exist' }, 404);
      if (method === 'DELETE') zone.remove(there.id);
      if (method === 'PUT') {
        const { target: data, ttl } = bodyOf<{ target: string; ttl: number }>(request);
        Object.assign(there, { data, ttl });
        return json(null);
      }
      const isSpf = there.type === 'TXT' && there.data.startsWith('"v=spf1');
      const shown = {
        id: there.id,
        zone: name,
        subDomain: relative(there.name, ''),
        target: there.data,
        ttl: there.ttl,
      };
      return json({ ...shown, fieldType: isSpf ? 'SPF' : there.type });
    },
  };
}
