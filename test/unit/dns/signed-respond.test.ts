import { type Answer, type DecodedPacket, decode, encode } from 'dns-packet';
import { beforeEach, describe, expect, test } from 'vitest';
import { delegationText, deriveZoneKey, ZoneKey } from '../../../src/name-server/dnssec/zone-key.ts';
import { ZoneSigner } from '../../../src/name-server/dnssec/zone-signer.ts';
import { MAX_UDP, respond } from '../../../src/name-server/respond.ts';
import type { FindZone, ZoneRecord } from '../../../src/name-server/zone.ts';

const APEX = 'd.example';
const CHILD = `team.${APEX}`;
const DAY = 24 * 3_600_000;
const RECORDS: Record<string, ZoneRecord[]> = {
  [APEX]: [
    { type: 'NS', value: 'mail.box.example' },
    { type: 'MX', value: 'mail.box.example', priority: 10 },
    { type: 'TXT', value: 'v=spf1 mx ~all' },
  ],
  [`a.${APEX}`]: [
    { type: 'A', value: '192.0.2.1' },
    { type: 'A', value: '192.0.2.2' },
    { type: 'AAAA', value: '2001:db8::1' },
  ],
  [`autoconfig.${APEX}`]: [{ type: 'CNAME', value: 'Mail.Box.Example' }],
  [`_x._domainkey.${APEX}`]: [{ type: 'TXT', value: 'x'.repeat(900) }],
  [CHILD]: [{ type: 'MX', value: 'mail.box.example', priority: 10 }],
};
/** Order in which the records of a name are found. */
let reversed = false;
const find: FindZone = async (name) => {
  if (name !== APEX && !name.endsWith(`.${APEX}`)) return undefined;
  const apex = name === CHILD || name.endsWith(`.${CHILD}`) ? CHILD : APEX;
  const exists = Object.keys(RECORDS).some((one) => one === name || one.endsWith(`.${name}`));
  const records = RECORDS[name] ?? [];
  return { apex, server: 'mail.box.example', exists, records: reversed ? records.toReversed() : records };
};

let now = 0;
let signer: ZoneSigner;
const derive = (purpose: string): Buffer => Buffer.from(purpose.padEnd(32, '.').slice(0, 32));
beforeEach(() => {
  now = Date.UTC(2026, 0, 2, 12);
  reversed = false;
  signer = new ZoneSigner({ derive, clock: () => now });
});

const opt = (dnssecOk: boolean, size = 4096): Answer =>
  ({
    type: 'OPT',
    name: '.',
    udpPayloadSize: size,
    ednsVersion: 0,
    extendedRcode: 0,
    flags: dnssecOk ? 0x8000 : 0,
    flag_do: dnssecOk,
    options: [],
  }) as never;
const query = (name: string, type: string, additionals: Answer[]): Buffer =>
  encode({ type: 'query', id: 7, questions: [{ name, type: type as 'A' }], additionals });

async function ask(
  name: string,
  type: string,
  { dnssecOk = true, size = 4096, way = 'udp' }: { dnssecOk?: boolean; size?: number; way?: 'udp' | 'tcp' } = {},
): Promise<DecodedPacket & { rcode: string; octets: number }> {
  const said = await respond(query(name, type, [opt(dnssecOk, size)]), way, find, signer);
  if (said === undefined) return expect.fail('no answer');
  return { ...(decode(said) as DecodedPacket & { rcode: string }), octets: said.length };
}
const typesOf = (all: readonly Answer[] | undefined): string[] => (all ?? []).map(({ type }) => type);
const signatureOf = ({ answers = [] }: DecodedPacket) =>
  answers.flatMap((one) => (one.type === 'RRSIG' ? [one.data] : []))[0];

describe('the key of a zone', () => {
  test('has the DNSKEY and DS records of RFC 6605 6.1', () => {
    const key = new ZoneKey('example.net', Buffer.from('GU6SnQ/Ou+xC5RumuIUIuJZteXT2z0O/ok1s38Et6mQ=', 'base64'));
    const { data } = key.record as Extract<Answer, { type: 'DNSKEY' }>;
    expect({ ...data, key: data.key.toString('base64') }).toEqual({
      flags: 257,
      algorithm: 13,
      key: 'GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==',
    });
    expect(delegationText(key.delegationSigner)).toBe(
      '55648 13 2 B4C8C1FE2E7477127B27115656AD6256F424625BF5C1E2770CE6D6E37DF61D17',
    );
    expect(key.hasDelegation(key.delegationSigner)).toBe(true);
    expect(key.hasDelegation({ ...key.delegationSigner, digestType: 3 })).toBe(false);
    expect(key.hasDelegation({ ...key.delegationSigner, digest: Buffer.alloc(32) })).toBe(false);
  });

  test('is the same for the same zone and secret, and another one else', () => {
    const text = (apex: string, purpose = derive): string =>
      delegationText(deriveZoneKey(apex, purpose).delegationSigner);
    expect(text(APEX)).toBe(text(APEX));
    expect(text(APEX)).not.toBe(text(CHILD));
    expect(text(APEX)).not.toBe(text(APEX, () => Buffer.alloc(32, 5)));
  });

  test('is derived again where a number is no key of the curve, and given up in the end', () => {
    const purposes: string[] = [];
    const second = (purpose: string): Buffer =>
      purposes.push(purpose) === 1 ? Buffer.alloc(32, 255) : derive(purpose);
    expect(deriveZoneKey(APEX, second).keyTag).toBeGreaterThanOrEqual(0);
    expect(purposes).toEqual([`dnssec ${APEX} 1`, `dnssec ${APEX} 2`]);
    expect(() => deriveZoneKey(APEX, () => Buffer.alloc(32))).toThrow();
  });
});

test('signatures are sent to those who want them, and nobody else notices a signed zone', async () => {
  const signed = await ask(APEX, 'MX');
  expect(typesOf(signed.answers)).toEqual(['MX', 'RRSIG']);
  expect(signed.additionals).toMatchObject([{ type: 'OPT', flag_do: true }]);
  const plain = await ask(APEX, 'MX', { dnssecOk: false });
  expect(typesOf(plain.answers)).toEqual(['MX']);
  expect(plain.additionals).toMatchObject([{ type: 'OPT', flag_do: false }]);
  expect(await ask(`www.${APEX}`, 'A', { dnssecOk: false })).toMatchObject({
    rcode: 'NXDOMAIN',
    authorities: [{ type: 'SOA' }],
  });
});

test('a signature names its zone, key and times', async () => {
  expect(signatureOf(await ask(`a.${APEX}`, 'A'))).toMatchObject({
    typeCovered: 'A',
    algorithm: 13,
    labels: 3,
    originalTTL: 300,
    inception: Date.UTC(2025, 11, 31) / 1000,
    expiration: Date.UTC(2026, 0, 16) / 1000,
    keyTag: signer.keyOf(APEX).keyTag,
    signersName: APEX,
  });
});

test('the case of a name, the order of records and the time of day make no other signature; the next day does', async () => {
  const first = signatureOf(await ask(`a.${APEX}`, 'A'))?.signature;
  expect(first).toHaveLength(64);
  reversed = true;
  now += DAY / 3;
  expect(signatureOf(await ask('A.d.Example', 'A'))?.signature).toEqual(first);
  now += DAY;
  expect(signatureOf(await ask(`a.${APEX}`, 'A'))?.signature).not.toEqual(first);
});

test.each<[string, string, string, string[]]>([
  ['a type that a name does not have', `a.${APEX}`, 'TXT', ['A', 'AAAA', 'RRSIG', 'NSEC']],
  ['a type at the top', APEX, 'AAAA', ['NS', 'SOA', 'MX', 'TXT', 'RRSIG', 'NSEC', 'DNSKEY']],
  ['a name between two others', `_domainkey.${APEX}`, 'TXT', ['RRSIG', 'NSEC']],
  ['a name that does not exist', `www.${APEX}`, 'A', ['RRSIG', 'NSEC', 'UNKNOWN_128']],
])('%s is denied by one record for this name alone', async (_, name, type, types) => {
  const { rcode, answers, authorities = [] } = await ask(name.toUpperCase(), type);
  expect({ rcode, answers }).toEqual({ rcode: 'NOERROR', answers: [] });
  expect(typesOf(authorities)).toEqual(['SOA', 'RRSIG', 'NSEC', 'RRSIG']);
  const nsec = authorities[2];
  if (nsec?.type !== 'NSEC') return expect.fail('no NSEC');
  expect(nsec).toMatchObject({ name, ttl: 60, data: { nextDomain: `\0.${name}` } });
  expect(nsec.data.rrtypes.toSorted()).toEqual(types.toSorted());
});

test('the key, an NSEC record, and a short answer to a query for signatures', async () => {
  expect(typesOf((await ask(APEX, 'DNSKEY')).answers)).toEqual(['DNSKEY', 'RRSIG']);
  expect((await ask(`a.${APEX}`, 'DNSKEY')).answers).toEqual([]);
  expect(typesOf((await ask(`a.${APEX}`, 'NSEC')).answers)).toEqual(['NSEC', 'RRSIG']);
  for (const type of ['RRSIG', 'ANY']) expect(typesOf((await ask(APEX, type)).answers)).toEqual(['HINFO', 'RRSIG']);
  expect(typesOf((await ask(`autoconfig.${APEX}`, 'A')).answers)).toEqual(['CNAME', 'RRSIG']);
});

test('the zone above signs the DS record of a zone below, and nobody has that of the zone at the top', async () => {
  const { answers } = await ask(CHILD, 'DS');
  expect(answers).toMatchObject([{ type: 'DS', data: signer.keyOf(CHILD).delegationSigner }, { type: 'RRSIG' }]);
  expect(signatureOf(await ask(CHILD, 'DS'))?.signersName).toBe(APEX);
  expect(signatureOf(await ask(CHILD, 'MX'))?.signersName).toBe(CHILD);
  expect(await ask(APEX, 'DS')).toMatchObject({ rcode: 'NOERROR', answers: [] });
});

test('the mark of a name that does not exist cannot be asked for, and a name of full length is denied without a proof', async () => {
  const packet = query(`a.${APEX}`, 'A', [opt(true)]);
  const at = packet.indexOf(Buffer.from([0, 0, 1, 0, 1]), 12) + 1;
  packet.writeUInt16BE(128, at);
  expect(decode((await respond(packet, 'udp', find, signer)) ?? Buffer.alloc(0))).toMatchObject({ rcode: 'FORMERR' });
  const label = 'x'.repeat(60);
  const long = `${label}.${label}.${label}.${label}.${APEX}`;
  expect(typesOf((await ask(long, 'A')).authorities)).toEqual(['SOA', 'RRSIG']);
});

test('what does not fit is truncated, and whole over TCP', async () => {
  const name = `_x._domainkey.${APEX}`;
  const small = await ask(name, 'TXT', { size: 1000 });
  expect(small).toMatchObject({ flag_tc: true, answers: [] });
  const large = await ask(name, 'TXT');
  expect(large.octets).toBeLessThanOrEqual(MAX_UDP);
  expect(typesOf(large.answers)).toEqual(['TXT', 'RRSIG']);
  expect(typesOf((await ask(name, 'TXT', { size: 512, way: 'tcp' })).answers)).toEqual(['TXT', 'RRSIG']);
});

test('a flood of queries for random names is answered, and other records are signed again after it', async () => {
  const answers = await Promise.all(Array.from({ length: 3000 }, (_, i) => ask(`n${i}.${APEX}`, 'A')));
  expect(answers.every(({ authorities }) => authorities?.length === 4)).toBe(true);
  const again = signatureOf(await ask(`a.${APEX}`, 'A'))?.signature;
  expect(signatureOf(await ask(`a.${APEX}`, 'A'))?.signature).toEqual(again);
});
