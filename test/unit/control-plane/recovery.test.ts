import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootstrapRoutes } from '../../../src/http/routes/bootstrap.ts';
import { spki, type Tenants, twoTenants } from '../../support/tenants.ts';

const MINUTE = 60_000;
let tenants: Tenants;
let app: FastifyInstance;
beforeAll(async () => {
  tenants = await twoTenants();
  app = Fastify();
  await app.register(async (inner) => bootstrapRoutes(tenants.world)(inner));
});
afterAll(async () => {
  await app.close();
  await tenants[Symbol.asyncDispose]();
});

interface Pending {
  keyId: string;
  challenge: Buffer;
  key: KeyObject;
}

async function register(): Promise<Pending> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  // An organization has five at most, and these tests begin anew again and again.
  for (const { keyId } of (await tenants.do('list_recovery_keys'))['keys'] as { keyId: string }[]) {
    if (keyId !== tenants.a.main.activeKeyId) await tenants.try('revoke_recovery_key', { keyId });
  }
  const said = await tenants.do('register_recovery_key', { label: 'one', publicKey: spki(publicKey) });
  return {
    keyId: String(said['keyId']),
    challenge: Buffer.from(String(said['challenge']), 'base64url'),
    key: privateKey,
  };
}

const signed = ({ challenge, key }: Pending): Buffer => sign(null, challenge, key);

async function verify(keyId: string, signature: string): Promise<string> {
  const said = await tenants.try('verify_recovery_key', { keyId, signature });
  return said.kind === 'done' ? 'active' : said.refusal.error;
}

describe('a public key', () => {
  const ed = generateKeyPairSync('ed25519').publicKey;
  const der = ed.export({ format: 'der', type: 'spki' });
  const point = (hex: string): string =>
    Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(hex, 'hex')]).toString('base64');
  const other = (key: KeyObject): string => key.export({ format: 'der', type: 'spki' }).toString('base64');

  test.each([
    ['RSA', other(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey)],
    ['P-256', other(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)],
    ['Ed448', other(generateKeyPairSync('ed448').publicKey)],
    ['X25519', other(generateKeyPairSync('x25519').publicKey)],
    ['the bare 32 octets', der.subarray(12).toString('base64')],
    ['one octet more', Buffer.concat([der, Buffer.alloc(1)]).toString('base64')],
    ['one octet less', der.subarray(0, -1).toString('base64')],
    ['hexadecimal', der.toString('hex')],
    ['text after its base64', `${der.toString('base64')}!`],
    ['base64 twice', Buffer.from(der.toString('base64')).toString('base64')],
    [
      'a private key',
      generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    ],
    ['the neutral point', point(`01${'00'.repeat(31)}`)],
    ['the point of order 2', point(`ec${'ff'.repeat(30)}7f`)],
    ['zero', point('00'.repeat(32))],
    ['zero with a sign', point(`${'00'.repeat(31)}80`)],
    ['a point of order 8', point('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')],
    ['another of order 8', point('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa')],
    ['p, a second zero', point(`ed${'ff'.repeat(30)}7f`)],
    ['p + 1, a second neutral point', point(`ee${'ff'.repeat(30)}7f`)],
    ['nothing', ' '],
  ])('is refused: %s', async (_name, publicKey) => {
    const said = await tenants.try('register_recovery_key', { label: 'bad', publicKey });
    expect(said).toMatchObject({ kind: 'refused', refusal: { error: 'invalid_public_key' } });
  });

  test.each([
    ['base64', der.toString('base64')],
    ['base64url', der.toString('base64url')],
    ['PEM', ed.export({ format: 'pem', type: 'spki' }).toString()],
  ])('is taken as %s', async (_name, publicKey) => {
    expect(await tenants.do('register_recovery_key', { label: 'good', publicKey })).toMatchObject({
      status: 'pending',
    });
  });
});

describe('a signature', () => {
  const wrong: [string, (of: Pending) => string][] = [
    [
      'by another key',
      ({ challenge }) => sign(null, challenge, generateKeyPairSync('ed25519').privateKey).toString('base64'),
    ],
    [
      'over the base64url text',
      ({ challenge, key }) => sign(null, Buffer.from(challenge.toString('base64url')), key).toString('base64'),
    ],
    [
      'over the hexadecimal text',
      ({ challenge, key }) => sign(null, Buffer.from(challenge.toString('hex')), key).toString('base64'),
    ],
    ['over other octets', ({ key }) => sign(null, randomBytes(32), key).toString('base64')],
    [
      'over the challenge and more',
      ({ challenge, key }) => sign(null, Buffer.concat([challenge, challenge]), key).toString('base64'),
    ],
    ['as hexadecimal', (of) => signed(of).toString('hex')],
    ['with an octet more', (of) => Buffer.concat([signed(of), Buffer.alloc(1)]).toString('base64')],
    ['with an octet less', (of) => signed(of).subarray(1).toString('base64')],
    [
      'with one bit turned',
      (of) => Buffer.from(signed(of).map((one, i) => (i === 0 ? one ^ 1 : one))).toString('base64'),
    ],
    ['with text after it', (of) => `${signed(of).toString('base64')}AA`],
    ['of zeros', () => Buffer.alloc(64).toString('base64')],
    ['in base64 twice', (of) => Buffer.from(signed(of).toString('base64')).toString('base64')],
    [
      'with its halves exchanged',
      (of) => Buffer.concat([signed(of).subarray(32), signed(of).subarray(0, 32)]).toString('base64'),
    ],
    ['with S + L, the same number again', (of) => malleable(signed(of)).toString('base64')],
  ];

  test.each(wrong)('is refused: %s', async (_name, make) => {
    const pending = await register();
    expect(await verify(pending.keyId, make(pending))).toBe('invalid_signature');
    expect(await verify(pending.keyId, signed(pending).toString('base64'))).toBe('active');
  });

  test('has five attempts, and then not even a right one helps', async () => {
    const pending = await register();
    for (let i = 0; i < 5; i++) expect(await verify(pending.keyId, 'AAAA')).toBe('invalid_signature');
    expect(await verify(pending.keyId, signed(pending).toString('base64'))).toBe('too_many_attempts');
  });

  test('five attempts are five, also when twenty come at once', async () => {
    const pending = await register();
    const all = await Promise.all(Array.from({ length: 20 }, () => verify(pending.keyId, 'AAAA')));
    expect(all.filter((one) => one === 'invalid_signature')).toHaveLength(5);
  });

  test('is good for ten minutes and no longer', async () => {
    const pending = await register();
    tenants.clock.now += 10 * MINUTE - 1000;
    expect(await verify(pending.keyId, signed(pending).toString('base64'))).toBe('active');
    const late = await register();
    tenants.clock.now += 10 * MINUTE + 1000;
    expect(await verify(late.keyId, signed(late).toString('base64'))).toBe('challenge_expired');
  });

  test('of an earlier challenge of the same key is none', async () => {
    const pending = await register();
    await tenants.do('register_recovery_key', { label: 'one', publicKey: publicOf(pending.key) });
    expect(await verify(pending.keyId, signed(pending).toString('base64'))).toBe('invalid_signature');
  });

  test('does nothing for another organization', async () => {
    const pending = await register();
    const args = { keyId: pending.keyId, signature: signed(pending).toString('base64') };
    const said = await tenants.try('verify_recovery_key', args, tenants.b.caller);
    expect(said).toMatchObject({ kind: 'refused', refusal: { error: 'not_found' } });
  });
});

describe('the way back in', () => {
  const post = async (path: string, body: object): Promise<{ status: number; json: Record<string, unknown> }> => {
    const said = await app.inject({ method: 'POST', url: `/api/auth/recovery/${path}`, payload: body });
    return { status: said.statusCode, json: said.json() };
  };
  const begin = async (pending: Pending) => {
    const { json } = await post('start', { organizationId: tenants.a.main.organizationId, keyId: pending.keyId });
    const challenge = Buffer.from(String(json['challenge']), 'base64url');
    return { recoveryId: String(json['recoveryId']), signature: sign(null, challenge, pending.key).toString('base64') };
  };
  const active = async (): Promise<Pending> => {
    const pending = await register();
    await verify(pending.keyId, signed(pending).toString('base64'));
    return pending;
  };

  test('gives one new token and ends all others, once', async () => {
    const open = await begin(await active());
    const { status, json } = await post('complete', open);
    expect(status).toBe(200);
    expect(json['token']).toMatch(/^mst_[0-9a-f]{48}$/);
    const { tokens } = (await tenants.do('list_agent_tokens')) as { tokens: { revoked: boolean; owner: boolean }[] };
    expect(tokens.filter((one) => !one.revoked)).toEqual([expect.objectContaining({ owner: true })]);
    expect((await post('complete', open)).status).toBe(404);
  });

  test('of ten at once one is in', async () => {
    const open = await begin(await active());
    const all = await Promise.all(Array.from({ length: 10 }, () => post('complete', open)));
    expect(all.filter((one) => one.status === 200)).toHaveLength(1);
  });

  test('is closed to keys that are pending, revoked, or of others, and all are answered alike', async () => {
    const pending = await register();
    const revoked = await active();
    await tenants.do('revoke_recovery_key', { keyId: revoked.keyId });
    const { organizationId } = tenants.a.main;
    const queried = [
      { organizationId, keyId: pending.keyId },
      { organizationId, keyId: revoked.keyId },
      { organizationId, keyId: tenants.b.main.activeKeyId },
      { organizationId: tenants.b.main.organizationId, keyId: tenants.a.main.activeKeyId },
      { organizationId, keyId: 'rky_987654' },
    ];
    const all = await Promise.all(queried.map((one) => post('start', one)));
    expect(new Set(all.map((one) => JSON.stringify(one)))).toEqual(new Set([JSON.stringify(all[4])]));
    expect(all[4]?.status).toBe(404);
  });

  test('is over after ten minutes and after five wrong signatures', async () => {
    const late = await begin(await active());
    tenants.clock.now += 10 * MINUTE + 1000;
    expect((await post('complete', late)).json).toMatchObject({ error: 'challenge_expired' });
    const open = await begin(await active());
    for (let i = 0; i < 5; i++) {
      const { json } = await post('complete', { ...open, signature: 'AAAA' });
      expect(json).toMatchObject({ error: 'invalid_signature' });
    }
    expect((await post('complete', open)).json).toMatchObject({ error: 'too_many_attempts' });
  });

  test('stands in the audit log', async () => {
    const open = await begin(await active());
    await post('complete', { ...open, signature: 'AAAA' });
    const { json } = await post('complete', open);
    const { events, chain } = await tenants.do('list_audit_events', { limit: 2, verify: true });
    const row = { operation: 'recover_organization', actor: 'anonymous', target: open.recoveryId, ip: '127.0.0.1' };
    expect(events).toMatchObject([
      { ...row, outcome: 'recovered' },
      { ...row, outcome: 'wrong' },
    ]);
    expect(chain).toMatchObject({ intact: true });
    expect(JSON.stringify(events)).not.toContain(String(json['token']));
  });
});

/** RFC 8032 5.1.7 wants S below L; a verifier that does not look takes S + L for the same. */
function malleable(signature: Buffer): Buffer {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const little = Buffer.from(signature.subarray(32)).reverse();
  const sum = (BigInt(`0x${little.toString('hex')}`) + order).toString(16).padStart(64, '0');
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(sum, 'hex').reverse()]);
}

function publicOf(key: KeyObject): string {
  const jwk = key.export({ format: 'jwk' });
  const point = Buffer.from(String(jwk.x), 'base64url');
  return Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), point]).toString('base64');
}
