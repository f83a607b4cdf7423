import { dkimSign } from 'mailauth';
import { beforeEach, describe, expect, test } from 'vitest';
import { authenticateMail } from '../../../mail/auth/authenticate.ts';
import { bodyHasher } from '../../../mail/auth/dkim-body.ts';
import { dkimRecord } from '../../../mail/auth/dkim-key.ts';
import { signHeaders } from '../../../mail/auth/dkim-sign.ts';
import { testKeys } from '../../support/dkim.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';

const HEADER = 'From: Author <me@box.test>\r\nTo: you@x.example\r\nSubject: Hello\r\n';
const BODY = 'Hello\r\n';

let zone: FakeZone;
beforeEach(() => {
  zone = {
    'TXT box.test': ['v=spf1 ip4:192.0.2.1 -all'],
    'TXT _dmarc.box.test': ['v=DMARC1; p=reject'],
    ...Object.fromEntries(
      testKeys.map((key) => [`TXT ${key.selector}._domainkey.box.test`, [dkimRecord(key.key)]] as const),
    ),
  };
});

async function signed(): Promise<string> {
  const hasher = bodyHasher();
  hasher.update(Buffer.from(BODY));
  const made = await signHeaders(Buffer.from(HEADER), hasher.digest(), testKeys, Date.now());
  return `${made.toString('latin1')}${HEADER}\r\n${BODY}`;
}

function check(message: string, more: { ip?: string; sender?: string; timeoutMs?: number } = {}) {
  const { ip = '198.51.100.1', sender = 'me@box.test', timeoutMs = 20_000 } = more;
  async function* chunks(): AsyncIterable<Buffer> {
    for (let at = 0; at < message.length; at += 1000) yield Buffer.from(message.slice(at, at + 1000), 'latin1');
  }
  return authenticateMail({ chunks, ip, helo: 'mx.box.test', sender }, { resolver: fakeResolver(zone), timeoutMs });
}

const PLAIN = `${HEADER}\r\n${BODY}`;

describe('DMARC', () => {
  test('passes by the address that the mail comes from', async () => {
    expect(await check(PLAIN, { ip: '192.0.2.1' })).toMatchObject({
      spf: { result: 'pass', domain: 'box.test' },
      dkim: [],
      dmarc: { result: 'pass', policy: 'reject', domain: 'box.test', organization: 'box.test' },
      arc: 'none',
    });
  });

  test('passes by either signature, wherever the mail comes from', async () => {
    const found = await check(await signed(), { sender: 'list@lists.example' });
    expect(found.dkim.map(({ result, domain }) => [result, domain])).toEqual([
      ['pass', 'box.test'],
      ['pass', 'box.test'],
    ]);
    expect(found.dmarc.result).toBe('pass');
  });

  test('fails for who only says that it is of the domain, with what the domain asks for', async () => {
    expect((await check(PLAIN)).dmarc).toMatchObject({ result: 'fail', policy: 'reject' });
    const changed = (await signed()).replace('Hello\r\n', 'Hallo\r\n');
    expect((await check(changed)).dmarc).toMatchObject({ result: 'fail', policy: 'reject' });
    zone['TXT _dmarc.box.test'] = ['v=DMARC1; p=none; sp=quarantine'];
    expect((await check(PLAIN)).dmarc).toMatchObject({ result: 'fail', policy: 'none' });
    expect((await check(PLAIN.replace('me@box.test', 'me@sub.box.test'))).dmarc).toMatchObject({
      result: 'fail',
      policy: 'quarantine',
      domain: 'sub.box.test',
      organization: 'box.test',
    });
  });

  test('fails for a signature that leaves the end of the body open', async () => {
    const [rsa] = testKeys;
    const privateKey = rsa?.key.export({ type: 'pkcs8', format: 'pem' }) ?? '';
    const signer = { signingDomain: 'box.test', selector: 'r1', privateKey };
    const signatureData = [{ ...signer, maxBodyLength: BODY.length }];
    const made = await dkimSign(`${HEADER}\r\n${BODY}`, { ...signer, signatureData });
    const message = `${made.signatures}${HEADER}\r\n${BODY}`;
    expect((await check(message)).dmarc.result).toBe('pass');
    const longer = await check(`${message}And pay me\r\n`);
    expect(longer.dmarc.result).toBe('fail');
    expect(longer.dkim).toMatchObject([{ result: 'policy' }]);
  });

  test('is none where a domain asks for nothing', async () => {
    delete zone['TXT _dmarc.box.test'];
    expect((await check(PLAIN)).dmarc).toMatchObject({ result: 'none', policy: 'none', domain: 'box.test' });
  });

  test.each([
    ['two From fields', `From: you@x.example\r\n${PLAIN}`],
    ['authors of two domains', PLAIN.replace('<me@box.test>', '<me@box.test>, you@x.example')],
    ['no author', PLAIN.replace(/^From.*\r\n/, '')],
  ])('has nobody to ask with %s', async (_what, message) => {
    expect((await check(message)).dmarc).toMatchObject({ result: 'permerror' });
  });
});

describe('what cannot be found out is not guessed', () => {
  test.each([
    ['the policy', 'TXT _dmarc.box.test', PLAIN],
    ['the addresses of the domain', 'TXT box.test', PLAIN],
  ])('%s', async (_what, name, message) => {
    zone[name] = 'trouble';
    expect((await check(message)).dmarc.result).toBe('temperror');
  });

  test('the keys; one of two is enough', async () => {
    zone['TXT r1._domainkey.box.test'] = 'trouble';
    expect((await check(await signed())).dmarc.result).toBe('pass');
    zone['TXT e1._domainkey.box.test'] = 'trouble';
    expect((await check(await signed())).dmarc.result).toBe('temperror');
  });

  test('what takes too long', async () => {
    const silent = { ...fakeResolver(zone), txt: () => new Promise<never>(() => undefined) };
    async function* chunks(): AsyncIterable<Buffer> {
      yield Buffer.from(PLAIN);
    }
    const mail = { chunks, ip: '192.0.2.1', helo: 'x', sender: 'me@box.test' };
    const found = await authenticateMail(mail, { resolver: silent, timeoutMs: 50 });
    expect(found).toMatchObject({
      dmarc: { result: 'temperror' },
      spf: { result: 'temperror' },
      iprev: { result: 'permerror' },
    });
  });
});

describe('bounds', () => {
  test('no more than 8 of 500 signatures are looked at', async () => {
    const one = 'DKIM-Signature: v=1; a=rsa-sha256; d=d%.example; s=s; c=relaxed/relaxed; h=from; bh=AA==; b=AA==\r\n';
    const many = Array.from({ length: 500 }, (_, i) => one.replace('%', String(i))).join('');
    expect((await check(many + PLAIN)).dkim).toHaveLength(8);
  });

  test('a header without end is nobody’s', async () => {
    expect(await check(`${'X-Long: 1\r\n'.repeat(30_000)}${PLAIN}`)).toMatchObject({
      dmarc: { result: 'permerror' },
      arc: 'fail',
    });
  });

  test('a policy that asks for ever is given up', async () => {
    const resolver = fakeResolver(zone);
    zone['TXT box.test'] = [`v=spf1 ${Array.from({ length: 40 }, (_, i) => `include:i${i}.box.test`).join(' ')} -all`];
    for (let i = 0; i < 40; i++) zone[`TXT i${i}.box.test`] = ['v=spf1 ?all'];
    async function* chunks(): AsyncIterable<Buffer> {
      yield Buffer.from(PLAIN);
    }
    const mail = { chunks, ip: '198.51.100.1', helo: 'x', sender: 'me@box.test' };
    const found = await authenticateMail(mail, { resolver });
    expect(found.spf.result).toBe('permerror');
    expect(resolver.queried.length).toBeLessThan(20);
  });
});
