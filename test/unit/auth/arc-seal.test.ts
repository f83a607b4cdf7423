import { expect, test } from 'vitest';
import { authenticateMail } from '../../../mail/auth/authenticate.ts';
import { dkimRecord } from '../../../mail/auth/dkim-key.ts';
import { hop, HOP_ZONE, sealed } from '../../support/arc-chain.ts';
import { testKeys } from '../../support/dkim.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';

const PLAIN = Buffer.from('From: me@box.test\r\nTo: you@x.example\r\nSubject: Hello\r\n\r\nHello\r\n\r\nBye \r\n\r\n');
const ZONE: FakeZone = {
  ...HOP_ZONE,
  ...Object.fromEntries(testKeys.map((key) => [`TXT ${key.selector}._domainkey.box.test`, [dkimRecord(key.key)]])),
};

async function chain(message: Buffer, zone = ZONE): Promise<string> {
  async function* chunks(): AsyncIterable<Buffer> {
    yield message;
  }
  const mail = { chunks, ip: '192.0.2.1', helo: 'x', sender: 'me@box.test' };
  return (await authenticateMail(mail, { resolver: fakeResolver(zone) })).arc;
}

async function after(hops: number): Promise<Buffer> {
  let message: Buffer = PLAIN;
  for (let i = 1; i <= hops; i++) message = await hop(message, i);
  return message;
}

const seals = (message: Buffer): string[] => message.toString().match(/^ARC-Seal: i=\d+;/gm) ?? [];

test.each([0, 1, 3])('our set goes on a chain of %i, and the chain passes', async (hops) => {
  const before = await after(hops);
  const status = hops === 0 ? 'none' : 'pass';
  expect(await chain(before)).toBe(status);
  const message = await sealed(before, testKeys, status);
  expect(seals(message)[0]).toBe(`ARC-Seal: i=${hops + 1};`);
  expect(message.toString()).toContain(`ARC-Authentication-Results: i=${hops + 1}; mail.box.test;`);
  expect(await chain(message)).toBe('pass');
  expect(await chain(await hop(message, hops + 2))).toBe('pass');
});

test('our set covers the author, the body and the chain', async () => {
  const message = (await sealed(await after(1), testKeys, 'pass')).toString();
  for (const [from, to] of [
    ['From: me@', 'From: you@'],
    ['\r\nBye', '\r\nBuy'],
    ['mx.hop.example; dmarc=pass', 'mx.hop.example; dmarc=fail'],
    ['mail.box.test;', 'mail.fox.test;'],
  ] as const) {
    expect([from, await chain(Buffer.from(message.replace(from, to)))]).toEqual([from, 'fail']);
  }
});

test('a broken chain is sealed as broken, once', async () => {
  const broken = Buffer.from((await after(2)).toString().replace('Hello\r\n\r\n', 'Hallo\r\n\r\n'));
  expect(await chain(broken)).toBe('fail');
  const message = await sealed(broken, testKeys, 'fail');
  expect(message.toString()).toMatch(/^ARC-Seal: i=3;[^]*?cv=fail;/);
  expect(await chain(message)).toBe('fail');
  const again = await sealed(message, testKeys, 'fail');
  expect(seals(again)).toEqual(seals(message));
});

test('what is no chain, or full, gets no set', async () => {
  const odd = Buffer.concat([Buffer.from('ARC-Seal: i=7; a=rsa-sha256; cv=none; d=x; s=y; b=AA==\r\n'), PLAIN]);
  expect(seals(await sealed(odd, testKeys, 'none'))).toHaveLength(1);
  const full = Buffer.concat([Buffer.from('ARC-Seal: i=50; a=rsa-sha256; cv=pass; d=x; s=y; b=AA==\r\n'), PLAIN]);
  expect(seals(await sealed(full, testKeys, 'pass'))).toHaveLength(1);
  expect(seals(await sealed(PLAIN, [], 'none'))).toEqual([]);
});

test('a key that cannot be looked up is no broken chain', async () => {
  const zone: FakeZone = { ...ZONE, 'TXT arc._domainkey.hop.example': 'trouble' };
  expect(await chain(await after(1), zone)).toBe('temperror');
});
