import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { encryptPush, readPushKeys } from '../../../mail/jmap/push/push-encryption.ts';
import { SecretBox } from '../../../mail/store/blob/secrets.ts';
import { Vapid } from '../../../src/jmap/push-sender.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');

// RFC 8291 5 and appendix A.
const P256DH = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4';
const AUTH = 'BTBZMqHH6r4Tts7J_aSIgg';
const BODY =
  'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN';

test('the example of RFC 8291', () => {
  const keys = readPushKeys(P256DH, AUTH);
  if (keys === undefined) throw new Error('the keys of the RFC are none');
  const own = {
    privateKey: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
    salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
  };
  const body = encryptPush(Buffer.from('When I grow up, I want to be a watermelon'), keys, own);
  expect(body.toString('base64url')).toBe(BODY);
});

test.each([
  ['too short', 'BCVx', AUTH],
  ['no point', Buffer.alloc(65, 4).toString('base64url'), AUTH],
  ['a secret of another size', P256DH, 'AAAA'],
  ['nothing', '', ''],
])('keys that are %s are refused', (_what, p256dh, auth) => {
  expect(readPushKeys(p256dh, auth)).toBeUndefined();
});

test('a message too long for one record is refused', () => {
  const ecdh = createECDH('prime256v1');
  const keys = { p256dh: ecdh.generateKeys(), auth: randomBytes(16) };
  expect(() => encryptPush(Buffer.alloc(4080), keys)).toThrow(RangeError);
  expect(encryptPush(Buffer.alloc(4079), keys)).toHaveLength(86 + 4096);
});

test('the VAPID token verifies with the key in the session, also after a restart', () => {
  const secret = randomBytes(32);
  const vapid = new Vapid(new SecretBox(secret), 'mailto:postmaster@box.test');
  expect(new Vapid(new SecretBox(secret), 'x').publicKey).toBe(vapid.publicKey);
  const header = vapid.authorization(new URL('https://push.test/a/b'), 1_700_000_000_000);
  const [, head = '', claims = '', signature = '', key = ''] =
    /^vapid t=([^.]+)\.([^.]+)\.([^,]+), k=(.+)$/.exec(header) ?? [];
  const point = bytes(key);
  const jwk = { kty: 'EC', crv: 'P-256', x: point.toString('base64url', 1, 33), y: point.toString('base64url', 33) };
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  const good = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    bytes(signature),
  );
  expect(good).toBe(true);
  expect(JSON.parse(bytes(claims).toString())).toEqual({
    aud: 'https://push.test',
    exp: 1_700_000_000 + 43_200,
    sub: 'mailto:postmaster@box.test',
  });
});
