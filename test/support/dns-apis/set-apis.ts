import {
  absolute,
  bodyOf,
  FAKE_ZONE,
  type FakeDnsApi,
  FakeZoneState,
  json,
  pageOf,
  partsOf,
  relative,
} from './fake-dns-api.ts';

/** deSEC as https://desec.readthedocs.io describes it: cursors in the Link header, changes in bulk, a shortest TTL. */
export function fakeDesec(): FakeDnsApi {
  const zone = new FakeZoneState();
  return {
    provider: 'desec',
    credentials: { token: 'good' },
    zone,
    answer(request) {
      if (request.headers['authorization'] !== 'Token good') return json({ detail: 'Invalid token.' }, 401);
      const [, name, sets] = partsOf(request, '/api/v1');
      if (name !== FAKE_ZONE) return json({ detail: 'Not found.' }, 404);
      if (sets === undefined) return json({ name, minimum_ttl: 3600, touched: '2026-01-01T00:00:00Z' });
      if (request.method === 'PATCH') {
        for (const one of bodyOf<{ subname: string; type: string; ttl: number; records: string[] }[]>(request)) {
          if (one.ttl < 3600) return json([{ ttl: ['Ensure this value is greater than or equal to 3600.'] }], 400);
          zone.replace(absolute(one.subname), one.type, one.ttl, one.records);
        }
        return json([]);
      }
      const all = zone.sets();
      const from = Number(request.url.searchParams.get('cursor') ?? 0);
      const items = all.slice(from, from + 500).map(({ name: full, data, ...one }) => {
        return { ...one, domain: name, subname: relative(full, ''), name: `${full}.`, records: data };
      });
      const base = `https://desec.io/api/v1/domains/${name}/rrsets/`;
      const next = from + 500 < all.length ? `, <${base}?cursor=${from + 500}>; rel="next"` : '';
      return json(items, 200, { link: `<${base}?cursor=>; rel="first"${next}` });
    },
  };
}

/** Hetzner as https://docs.hetzner.cloud describes it. */
export function fakeHetzner(): FakeDnsApi {
  const zone = new FakeZoneState();
  const done = { action: { id: 1, status: 'success' } };
  return {
    provider: 'hetzner',
    credentials: { token: 'good' },
    zone,
    answer(request) {
      const error = (code: string, status: number) => json({ error: { code, message: code } }, status);
      if (request.headers['authorization'] !== 'Bearer good') return error('unauthorized', 401);
      const [, name, sets, label, type, , action] = partsOf(request, '/v1');
      if (name !== FAKE_ZONE) return error('not_found', 404);
      if (sets === undefined) return json({ zone: { id: 42, name, ttl: 3600, mode: 'primary' } });
      if (label === undefined) {
        const { items, page, pages } = pageOf(zone.sets(), request, 'per_page', 100);
        const rrsets = items.map((one) => ({
          id: `${relative(one.name, '@')}/${one.type}`,
          name: relative(one.name, '@'),
          type: one.type,
          ttl: one.ttl,
          records: one.data.map((value) => ({ value, comment: '' })),
        }));
        return json({ rrsets, meta: { pagination: { page, next_page: page < pages ? page + 1 : null } } });
      }
      const full = absolute(label);
      const { records, ttl } = bodyOf<{ records: { value: string }[]; ttl?: number }>(request);
      const given = records.map(({ value }) => value);
      const there = zone.records.filter((one) => one.name === full && one.type === type);
      const now = there.map(({ data }) => data);
      const ttlNow = there[0]?.ttl ?? ttl ?? 3600;
      switch (action ?? '') {
        case 'add_records':
          if (given.some((one) => now.includes(one))) return error('uniqueness_error', 409);
          zone.replace(full, type ?? '', ttlNow, [...now, ...given]);
          return json(done, 201);
        case 'remove_records':
          if (given.some((one) => !now.includes(one))) return error('not_found', 422);
          zone.replace(
            full,
            type ?? '',
            ttlNow,
            now.filter((one) => !given.includes(one)),
          );
          return json(done, 201);
        case 'set_records':
          if (there.length === 0) return error('not_found', 404);
          zone.replace(full, type ?? '', ttlNow, given);
          return json(done, 201);
        default:
          return error('not_found', 404);
      }
    },
  };
}

/** LiveDNS as https://api.gandi.net/docs/livedns describes it. */
export function fakeGandi(): FakeDnsApi {
  const zone = new FakeZoneState();
  return {
    provider: 'gandi',
    credentials: { token: 'good' },
    zone,
    answer(request) {
      if (request.headers['authorization'] !== 'Bearer good') return json({ cause: 'Forbidden', message: 'no' }, 403);
      const [, name, records, label, type] = partsOf(request, '/v5/livedns');
      if (name !== FAKE_ZONE)
        return json({ cause: 'Not Found', code: 404, message: `Unknown domain ${name ?? ''}` }, 404);
      if (records === undefined) return json({ fqdn: name, automatic_snapshots: true });
      if (label === undefined || type === undefined) {
        const { items } = pageOf(zone.sets(), request, 'per_page', 1000);
        const sets = items.map((one) => ({
          rrset_name: relative(one.name, '@'),
          rrset_type: one.type,
          rrset_ttl: one.ttl,
          rrset_values: one.data,
          rrset_href: 'https://api.gandi.net/',
        }));
        return json(sets);
      }
      if (request.method === 'DELETE') {
        zone.replace(absolute(label), type, 0, []);
        return json(undefined, 204);
      }
      const { rrset_values: values, rrset_ttl: ttl } = bodyOf<{ rrset_values: string[]; rrset_ttl: number }>(request);
      if (ttl < 300) return json({ status: 'error', errors: [{ name: 'rrset_ttl', description: 'too low' }] }, 400);
      zone.replace(absolute(label), type, ttl, values);
      return json({ message: 'DNS Record Created' }, 201);
    },
  };
}

/** Route 53 as its API reference describes it, in XML. */
export function fakeRoute53(): FakeDnsApi {
  const zone = new FakeZoneState();
  const xml = (body: string, status = 200) => ({ status, headers: {}, body: `<?xml version="1.0"?>\n${body}` });
  const escape = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  return {
    provider: 'route53',
    credentials: { accessKey: 'AKID', secretKey: 'secret' },
    zone,
    answer(request) {
      const authorization = request.headers['authorization'] ?? '';
      if (!authorization.includes('Credential=AKID/') || !authorization.includes('/us-east-1/route53/aws4_request')) {
        return xml(
          '<ErrorResponse><Error><Code>InvalidClientTokenId</Code><Message>bad token</Message></Error></ErrorResponse>',
          403,
        );
      }
      const { pathname, searchParams } = request.url;
      if (pathname === '/2013-04-01/hostedzonesbyname') {
        const make = (id: string, name: string, hidden: boolean): string =>
          `<HostedZone><Id>/hostedzone/${id}</Id><Name>${name}.</Name><Config><PrivateZone>${String(hidden)}</PrivateZone></Config></HostedZone>`;
        const zones = [
          make('Z0PRIVATE', FAKE_ZONE, true),
          make('Z1', FAKE_ZONE, false),
          make('Z2', 'example.org', false),
        ];
        return xml(
          `<ListHostedZonesByNameResponse><HostedZones>${zones.join('')}</HostedZones></ListHostedZonesByNameResponse>`,
        );
      }
      if (pathname !== '/2013-04-01/hostedzone/Z1/rrset') return xml('<ErrorResponse/>', 404);
      if (request.method === 'GET') {
        const all = zone.sets();
        const from = Math.max(
          0,
          all.findIndex(
            (one) =>
              `${one.name}. ${one.type}` === `${searchParams.get('name') ?? ''} ${searchParams.get('type') ?? ''}`,
          ),
        );
        const size = Number(searchParams.get('maxitems'));
        const next = all[from + size];
        const sets = all.slice(from, from + size).map((one) => {
          const values = one.data
            .map((data) => `<ResourceRecord><Value>${escape(data)}</Value></ResourceRecord>`)
            .join('');
          return `<ResourceRecordSet><Name>${one.name.replace('*', '\\052')}.</Name><Type>${one.type}</Type><TTL>${one.ttl}</TTL><ResourceRecords>${values}</ResourceRecords></ResourceRecordSet>`;
        });
        const more =
          next === undefined
            ? '<IsTruncated>false</IsTruncated>'
            : `<IsTruncated>true</IsTruncated><NextRecordName>${next.name}.</NextRecordName><NextRecordType>${next.type}</NextRecordType>`;
        return xml(
          `<ListResourceRecordSetsResponse><ResourceRecordSets>${sets.join('')}</ResourceRecordSets>${more}</ListResourceRecordSetsResponse>`,
        );
      }
      const before = [...zone.records];
      for (const [, action, name = '', type = '', ttl, records = ''] of (request.body ?? '').matchAll(
        /<Action>(\w+)<\/Action><ResourceRecordSet><Name>([^<]+)\.<\/Name><Type>(\w+)<\/Type><TTL>(\d+)<\/TTL><ResourceRecords>(.*?)<\/ResourceRecords>/g,
      )) {
        const values = [...records.matchAll(/<Value>([^<]*)<\/Value>/g)].map(([, text = '']) =>
          text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))),
        );
        const there = zone.sets().find((one) => one.name === name && one.type === type);
        const same = there?.ttl === Number(ttl) && there.data.toSorted().join('\n') === values.toSorted().join('\n');
        if (action === 'CREATE' ? there !== undefined : !same) {
          zone.records = before;
          return xml(
            '<ErrorResponse><Error><Code>InvalidChangeBatch</Code><Message>but it was not found</Message></Error></ErrorResponse>',
            400,
          );
        }
        zone.replace(name, type, Number(ttl), action === 'CREATE' ? values : []);
      }
      return xml(
        '<ChangeResourceRecordSetsResponse><ChangeInfo><Id>/change/C1</Id><Status>PENDING</Status></ChangeInfo></ChangeResourceRecordSetsResponse>',
      );
    },
  };
}
