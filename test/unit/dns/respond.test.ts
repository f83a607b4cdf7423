import { type Answer, type DecodedPacket, decode, encode, type Packet } from 'dns-packet';
import { describe, expect, test } from 'vitest';
import { truncatedResponse, MAX_UDP, respond } from '../../../src/name-server/respond.ts';
import type { FindZone, ZoneRecord } from '../../../src/name-server/zone.ts';

const KEY = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`;
const HUGE = 'x'.repeat(3_000);
const RECORDS: Record<string, ZoneRecord[]> = {
  'd.example': [
    { type: 'NS', value: 'mail.box.example' },
    { type: 'MX', value: 'mail.box.example', priority: 10 },
    { type: 'TXT', value: 'v=spf1 mx ~all' },
  ],
  'ms1._domainkey.d.example': [{ type: 'TXT', value: KEY }],
  'huge.d.example': [{ type: 'TXT', value: HUGE }],
  'a.d.example': [
    { type: 'A', value: '192.0.2.1' },
    { type: 'AAAA', value: '2001:db8::1' },
  ],
};
const find: FindZone = async (name) => {
  if (name === 'broken.example') throw new Error('the store is closed');
  if (name !== 'd.example' && !name.endsWith('.d.example')) return undefined;
  const exists = Object.keys(RECORDS).some((one) => one === name || one.endsWith(`.${name}`));
  return { apex: 'd.example', server: 'mail.box.example', exists, records: RECORDS[name] ?? [] };
};

const query = (name: string, type = 'TXT', more: Partial<Packet> = {}, klass = 'IN'): Buffer =>
  encode({ type: 'query', id: 0x1234, questions: [{ name, type, class: klass } as never], ...more });
const edns = (size: number, version = 0): Answer =>
  ({
    type: 'OPT',
    name: '.',
    udpPayloadSize: size,
    ednsVersion: version,
    extendedRcode: 0,
    flags: 0,
    flag_do: false,
    options: [],
  }) as never;
async function ask(packet: Buffer, way: 'udp' | 'tcp' = 'udp'): Promise<DecodedPacket & { size: number }> {
  const said = await respond(packet, way, find);
  return said === undefined ? expect.fail('no answer') : { ...decode(said), size: said.length };
}
const codeOf = async (packet: Buffer): Promise<string> => ((await ask(packet)) as unknown as { rcode: string }).rcode;

test('a question is answered with authority, its name in the same case, and its id', async () => {
  const said = await ask(query('MS1._dOmAiNkEy.D.exAMPle'));
  expect(said).toMatchObject({ id: 0x1234, flag_aa: true, flag_tc: false, flag_ra: false, rcode: 'NOERROR' });
  expect(said.questions).toMatchObject([{ name: 'MS1._dOmAiNkEy.D.exAMPle', type: 'TXT', class: 'IN' }]);
  expect(said.answers).toMatchObject([{ name: 'MS1._dOmAiNkEy.D.exAMPle', type: 'TXT', ttl: 300 }]);
  const data = said.answers?.flatMap((one) => (one as { data: Buffer[] }).data) ?? [];
  expect(Buffer.concat(data).toString()).toBe(KEY);
  expect(data.map((one) => one.length)).toEqual([255, KEY.length - 255]);
});

test('what is not there is distinguished from what has no such record, both with the start of the zone', async () => {
  const missing = await ask(query('www.d.example', 'A'));
  expect(missing).toMatchObject({ rcode: 'NXDOMAIN', flag_aa: true, answers: [] });
  const empty = await ask(query('_domainkey.d.example', 'TXT'));
  expect(empty).toMatchObject({ rcode: 'NOERROR', flag_aa: true, answers: [] });
  const other = await ask(query('d.example', 'AAAA'));
  expect(other).toMatchObject({ rcode: 'NOERROR', answers: [] });
  for (const { authorities } of [missing, empty, other]) {
    expect(authorities).toMatchObject([{ name: 'd.example', type: 'SOA', ttl: 60, data: { minimum: 60 } }]);
  }
  expect((await ask(query('D.example', 'SOA'))).answers).toMatchObject([{ name: 'D.example', type: 'SOA' }]);
  expect((await ask(query('a.d.example', 'SOA'))).answers).toEqual([]);
});

describe('refused', () => {
  test.each([
    ['a name of others', query('other.example')],
    ['the root', query('.', 'NS')],
    ['a transfer', query('d.example', 'AXFR')],
    ['a smaller transfer', query('d.example', 'IXFR')],
    ['the version', query('version.bind', 'TXT', {}, 'CH')],
    ['the class CHAOS', query('d.example', 'TXT', {}, 'CH')],
    ['every class', query('d.example', 'TXT', {}, 'ANY')],
  ])('%s', async (_, packet) => {
    const said = await ask(packet);
    expect(said).toMatchObject({ rcode: 'REFUSED', flag_aa: false, answers: [], authorities: [] });
    expect(said.size).toBeLessThanOrEqual(packet.length);
  });
});

test('a question for everything gets one short answer', async () => {
  const said = await ask(query('d.example', 'ANY'));
  expect(said.answers).toMatchObject([{ type: 'HINFO', data: { cpu: 'RFC8482' } }]);
});

test.each([65, 64, 257, 48, 43, 251 - 1, 999, 65_280])(
  'a record of type %i that nobody has is an empty answer',
  async (type) => {
    const packet = query('d.example', 'A');
    packet.writeUInt16BE(type, packet.length - 4);
    const said = await respond(packet, 'udp', find);
    expect(said?.readUInt16BE(packet.length - 4)).toBe(type);
    expect(decode(said ?? Buffer.alloc(0))).toMatchObject({ rcode: 'NOERROR', answers: [] });
  },
);

test.each([0, 5, 254, 32_769, 65_535])(
  'a class that nobody knows, %i, is refused and not answered as another one',
  async (klass) => {
    const packet = query('d.example', 'A');
    packet.writeUInt16BE(klass, packet.length - 2);
    const said = (await respond(packet, 'udp', find)) ?? expect.fail('no answer');
    expect(said).toHaveLength(12);
    expect(decode(said)).toMatchObject({ id: 0x1234, rcode: 'REFUSED', questions: [] });
    expect(truncatedResponse(packet)).toBeUndefined();
  },
);

describe('sizes over UDP', () => {
  test.each([
    [undefined, 512],
    [0, 512],
    [100, 512],
    [512, 512],
    [600, 600],
    [1232, 1232],
    [4096, 1232],
    [65_535, 1232],
  ])('who can take %s gets at most %i', async (size, most) => {
    const more = size === undefined ? {} : { additionals: [edns(size)] };
    const key = await ask(query('ms1._domainkey.d.example', 'TXT', more));
    expect(key.size).toBeLessThanOrEqual(most);
    expect(key.flag_tc).toBe(false);
    const huge = await ask(query('huge.d.example', 'TXT', more));
    expect(huge.size).toBeLessThanOrEqual(most);
    expect(huge).toMatchObject({ flag_tc: true, answers: [], flag_aa: true });
    expect((await ask(query('huge.d.example', 'TXT', more), 'tcp')).answers).toHaveLength(1);
    expect(huge.additionals).toHaveLength(size === undefined ? 0 : 1);
  });

  test('a version of EDNS that is not there yet is answered with the one that is', async () => {
    const said = await ask(query('d.example', 'TXT', { additionals: [edns(1232, 1)] }));
    expect(said.answers).toEqual([]);
    expect(said.additionals).toMatchObject([{ type: 'OPT', extendedRcode: 1, ednsVersion: 0 }]);
  });

  test('an answer is at most ten times as large as its question, for every name that is served', async () => {
    const factors: number[] = [];
    for (const name of Object.keys(RECORDS)) {
      for (const type of ['TXT', 'MX', 'NS', 'A', 'ANY', 'SOA', 'DNSKEY']) {
        for (const more of [{}, { additionals: [edns(4096)] }]) {
          const packet = query(name, type, more);
          factors.push((await ask(packet)).size / packet.length);
        }
      }
    }
    expect(Math.max(...factors)).toBeLessThan(12);
  });
});

describe('no question', () => {
  const response = query('d.example');
  response.writeUInt16BE(0x8000, 2);
  test.each<[string, Buffer]>([
    ['an answer', response],
    ['nothing', Buffer.alloc(0)],
    ['less than a header', query('d.example').subarray(0, 11)],
    ['more than anybody asks', Buffer.concat([query('d.example'), Buffer.alloc(1024)])],
  ])('%s is not answered', async (_, packet) => {
    expect(await respond(packet, 'udp', find)).toBeUndefined();
    expect(truncatedResponse(packet)).toBeUndefined();
  });

  const changed = (at: number, value: number): Buffer => {
    const packet = query('d.example');
    packet.writeUInt16BE(value, at);
    return packet;
  };
  test.each<[string, Buffer, string]>([
    ['a header alone', query('d.example').subarray(0, 12), 'FORMERR'],
    ['a name that does not end', query('d.example').subarray(0, 18), 'FORMERR'],
    [
      'a name that leads to itself',
      Buffer.concat([query('d.example').subarray(0, 12), Buffer.from([0xc0, 12, 0, 16, 0, 1])]),
      'FORMERR',
    ],
    ['no question', changed(4, 0), 'FORMERR'],
    ['two questions', changed(4, 2), 'FORMERR'],
    ['65,535 questions', changed(4, 65_535), 'FORMERR'],
    ['an answer in a question', changed(6, 1), 'FORMERR'],
    ['65,535 more records', changed(10, 65_535), 'FORMERR'],
    ['an update', changed(2, 5 << 11), 'NOTIMP'],
    ['a notification', changed(2, 4 << 11), 'NOTIMP'],
    ['a question while the store is closed', query('broken.example'), 'SERVFAIL'],
  ])('%s: %s', async (_, packet, code) => {
    expect(await codeOf(packet)).toBe(code);
    expect((await respond(packet, 'udp', find))?.length).toBe(12);
  });
});

test('whoever should come over TCP is informed in as many octets as the question has', () => {
  const packet = query('MS1.d.example');
  const said = truncatedResponse(packet) ?? expect.fail('no answer');
  expect(decode(said)).toMatchObject({
    id: 0x1234,
    flag_tc: true,
    answers: [],
    questions: [{ name: 'MS1.d.example' }],
  });
  expect(said.length).toBeLessThanOrEqual(packet.length);
});

test('10,000 packets that are random or almost right: no error, no answer to an answer, nothing that is too large', async () => {
  const seeds = [
    query('ms1._domainkey.d.example'),
    query('huge.d.example', 'TXT', { additionals: [edns(4096)] }),
    query('d.example', 'ANY'),
    query('a.d.example', 'A', { additionals: [edns(512)] }),
  ];
  const random = generator(20_261_121);
  let answered = 0;
  for (let i = 0; i < 10_000; i++) {
    const packet =
      i % 4 === 0
        ? Buffer.from(Array.from({ length: random(80) }, () => random(256)))
        : mutated(seeds[random(seeds.length)]!, random);
    for (const way of ['udp', 'tcp'] as const) {
      const said = await respond(packet, way, find);
      if (said === undefined) continue;
      answered++;
      expect(packet.length).toBeGreaterThanOrEqual(12);
      expect(packet.readUInt16BE(2) & 0x8000, packet.toString('hex')).toBe(0);
      expect(said.readUInt16BE(0)).toBe(packet.readUInt16BE(0));
      expect(said.readUInt16BE(2) & 0x8000).toBe(0x8000);
      if (way === 'udp') expect(said.length, packet.toString('hex')).toBeLessThanOrEqual(MAX_UDP);
      expect(() => decode(said)).not.toThrow();
    }
    expect(() => truncatedResponse(packet)).not.toThrow();
  }
  expect(answered).toBeGreaterThan(2_500);
});

/** Numbers below a bound, the same at each run. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function mutated(seed: Buffer, random: (below: number) => number): Buffer {
  let packet = Buffer.from(seed);
  for (let i = random(4); i >= 0; i--) {
    const at = random(packet.length);
    switch (random(4)) {
      case 0:
        packet[at] = random(256);
        break;
      case 1:
        packet = packet.subarray(0, Math.max(1, at));
        break;
      case 2:
        packet = Buffer.concat([packet.subarray(0, at), Buffer.from([0xc0, random(64)]), packet.subarray(at)]);
        break;
      default:
        packet = Buffer.concat([packet, packet.subarray(at)]);
    }
  }
  return packet;
}
