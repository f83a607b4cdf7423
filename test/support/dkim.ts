import { createHash, createPublicKey, generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import type { DkimKey } from '../../mail/auth/dkim-sign.ts';

/** Keys of box.test, generated once a process as RSA key generation is slow. */
export const testKeys: readonly DkimKey[] = [
  {
    domain: 'box.test',
    selector: 'r1',
    algorithm: 'rsa-sha256',
    key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  },
  { domain: 'box.test', selector: 'e1', algorithm: 'ed25519-sha256', key: generateKeyPairSync('ed25519').privateKey },
];

/**
 * Verifies the topmost `count` DKIM-Signature fields with an independent, simple implementation of RFC 6376 that shares
 * nothing with the signer. Returns the failure of each, or 'pass'.
 */
export function verifyAll(message: Buffer, keys: readonly DkimKey[], count = keys.length): string[] {
  const text = message.toString('latin1');
  const split = text.startsWith('\r\n') ? 0 : text.indexOf('\r\n\r\n') + 2;
  const header = split < 2 && !text.startsWith('\r\n') ? text : text.slice(0, split);
  const body = header === text ? '' : text.slice(split + 2);
  const fields = header.match(/[^\r\n][^\n]*\n(?:[ \t][^\n]*\n)*/g) ?? [];
  return fields.slice(0, count).map((field) => verifyOne(field, fields, body, keys));
}

function verifyOne(field: string, fields: readonly string[], body: string, keys: readonly DkimKey[]): string {
  if (!/^DKIM-Signature:/i.test(field)) return 'not a signature';
  const tags = new Map(
    field
      .slice(field.indexOf(':') + 1)
      .split(';')
      .map((tag) => [tag.slice(0, tag.indexOf('=')).trim(), tag.slice(tag.indexOf('=') + 1).replace(/\s/g, '')]),
  );
  const key = keys.find((k) => k.selector === tags.get('s') && k.domain === tags.get('d'));
  if (key === undefined || key.algorithm !== tags.get('a')) return 'no key';
  if (tags.get('c') !== 'relaxed/relaxed' || tags.has('l')) return 'odd tags';
  if (createHash('sha256').update(relaxedBody(body), 'latin1').digest('base64') !== tags.get('bh'))
    return 'body differs';
  const rest = [...fields];
  let data = '';
  for (const name of (tags.get('h') ?? '').split(':')) {
    const at = rest.findLastIndex((f) => new RegExp(`^${name}[ \t]*:`, 'i').test(f));
    if (at >= 0) data += `${relaxedField(rest.splice(at, 1)[0] ?? '')}\r\n`;
  }
  data += relaxedField(field.replace(/b=[^;]*$/, 'b='));
  return check(key.key, key.algorithm, data, tags.get('b') ?? '') ? 'pass' : 'header differs';
}

function check(key: KeyObject, algorithm: DkimKey['algorithm'], data: string, signature: string): boolean {
  const octets = Buffer.from(data, 'latin1');
  const signed = Buffer.from(signature, 'base64');
  return algorithm === 'rsa-sha256'
    ? verify('sha256', octets, createPublicKey(key), signed)
    : verify(null, createHash('sha256').update(octets).digest(), createPublicKey(key), signed);
}

function relaxedBody(body: string): string {
  const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''));
  while (lines.at(-1) === '') lines.pop();
  return lines.length === 0 ? '' : `${lines.join('\r\n')}\r\n`;
}

function relaxedField(field: string): string {
  const colon = field.indexOf(':');
  const value = field
    .slice(colon + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ');
  return `${field.slice(0, colon).trim().toLowerCase()}:${value.replace(/^ /, '').replace(/ $/, '')}`;
}
