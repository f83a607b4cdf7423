import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type HpkeContext, openWith, sealTo } from '../../../mail/backup/hpke.ts';
import { publicKeyOf, sharedSecret } from '../../../mail/backup/x25519.ts';
import { flipped } from '../../support/flipped.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const INFO = hex('4f6465206f6e2061204772656369616e2055726e');
const MESSAGE = Buffer.from('Beauty is truth, truth beauty');

/** RFC 9180 A.2: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20-Poly1305; the message of sequence number 0. */
const VECTORS = [
  {
    name: 'A.2.1, base',
    ephemeral: 'f4ec9b33b792c372c1d2c2063507b684ef925b8c75a42dbcbf57d63ccd381600',
    recipient: '8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb',
    publicKey: '4310ee97d88cc1f088a5576c77ab0cf5c3ac797f3d95139c6c84b5429c59662a',
    context: { info: INFO, aad: Buffer.from('Count-0') },
    encapsulated: '1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a',
    ciphertext: '1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db21993c62ce81883d2dd1b51a28',
  },
  {
    name: 'A.2.2, with a pre-shared key',
    ephemeral: '0c35fdf49df7aa01cd330049332c40411ebba36e0c718ebc3edf5845795f6321',
    recipient: '77d114e0212be51cb1d76fa99dd41cfd4d0166b08caa09074430a6c59ef17879',
    publicKey: '13640af826b722fc04feaa4de2f28fbd5ecc03623b317834e7ff4120dbe73062',
    context: {
      info: INFO,
      aad: Buffer.from('Count-0'),
      psk: {
        key: hex('0247fd33b913760fa1fa51e1892d9f307fbe65eb171e8132c2af18555a738b82'),
        id: Buffer.from('Ennyn Durin aran Moria'),
      },
    },
    encapsulated: '2261299c3f40a9afc133b969a97f05e95be2c514e54f3de26cbe5644ac735b04',
    ciphertext: '4a177f9c0d6f15cfdf533fb65bf84aecdc6ab16b8b85b4cf65a370e07fc1d78d28fb073214525276f4a89608ff',
  },
];

test.each(VECTORS)('RFC 9180 $name', ({ ephemeral, recipient, publicKey, context, encapsulated, ciphertext }) => {
  expect(publicKeyOf(hex(recipient)).toString('hex')).toBe(publicKey);
  const sealed = sealTo(hex(publicKey), context, MESSAGE, hex(ephemeral));
  expect(sealed.toString('hex')).toBe(encapsulated + ciphertext);
  expect(openWith(hex(recipient), context, sealed)).toEqual(MESSAGE);
});

test('RFC 7748 6.1: Alice and Bob have the same secret', () => {
  const alice = hex('77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a');
  const bob = hex('5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb');
  const secret = hex('4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742');
  expect(sharedSecret(alice, publicKeyOf(bob))).toEqual(secret);
  expect(sharedSecret(bob, publicKeyOf(alice))).toEqual(secret);
});

const PRIVATE_KEY = randomBytes(32);
const CONTEXT = {
  info: Buffer.from('info'),
  aad: Buffer.from('name'),
  psk: { key: randomBytes(32), id: Buffer.from('id') },
};

test('every flipped bit of a message is refused, of its key as well as of its text and tag', () => {
  const sealed = sealTo(publicKeyOf(PRIVATE_KEY), CONTEXT, MESSAGE);
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    expect(openWith(PRIVATE_KEY, CONTEXT, flipped(sealed, bit)), `bit ${bit}`).toBeUndefined();
  }
  for (let length = 0; length < sealed.length; length++)
    expect(openWith(PRIVATE_KEY, CONTEXT, sealed.subarray(0, length)), `${length} octets`).toBeUndefined();
});

test.each<[string, HpkeContext]>([
  ['another purpose', { ...CONTEXT, info: Buffer.from('other') }],
  ['another name', { ...CONTEXT, aad: Buffer.from('other') }],
  ['another pre-shared key', { ...CONTEXT, psk: { ...CONTEXT.psk, key: randomBytes(32) } }],
  ['another name of the pre-shared key', { ...CONTEXT, psk: { ...CONTEXT.psk, id: Buffer.from('other') } }],
  ['no pre-shared key', { info: CONTEXT.info, aad: CONTEXT.aad }],
])('a message does not open with %s', (_, context) => {
  const sealed = sealTo(publicKeyOf(PRIVATE_KEY), CONTEXT, MESSAGE);
  expect(openWith(PRIVATE_KEY, context, sealed)).toBeUndefined();
});

test('two messages to one key share neither key nor text', () => {
  const [one, two] = [1, 2].map(() => sealTo(publicKeyOf(PRIVATE_KEY), CONTEXT, MESSAGE));
  expect(one?.subarray(0, 32).equals(two!.subarray(0, 32))).toBe(false);
  expect(one?.subarray(32).equals(two!.subarray(32))).toBe(false);
});

/** Points whose secret is zero with every private key (RFC 7748 7), also with the bit that is ignored. */
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000080',
];

test.each(SMALL_ORDER)('a key of small order is refused, as recipient and in a message: %s', (point) => {
  expect(sharedSecret(randomBytes(32), hex(point))).toBeUndefined();
  expect(() => sealTo(hex(point), CONTEXT, MESSAGE)).toThrow(RangeError);
  const forged = Buffer.concat([hex(point), randomBytes(40)]);
  expect(openWith(PRIVATE_KEY, CONTEXT, forged)).toBeUndefined();
});
