import { hash, sign, type KeyObject } from 'node:crypto';
import { readFields, type Field } from '../message/header.ts';

/** Signing key of a domain, published at `selector._domainkey.domain`. */
export interface DkimKey {
  domain: string;
  selector: string;
  algorithm: 'rsa-sha256' | 'ed25519-sha256';
  key: KeyObject;
}

/**
 * Oversigned fields: listed in `h=` once more than they occur, so that adding another one breaks the signature. RFC 6376 5.4.2, 8.15.
 */
const OVERSIGNED = [
  'from',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'reply-to',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
] as const;

/** Fields listed as often as they occur: mailing lists may add more without breaking the signature. RFC 6376 5.4.1. */
const SIGNED = [
  'sender',
  'resent-date',
  'resent-from',
  'resent-sender',
  'resent-to',
  'resent-cc',
  'resent-message-id',
  'content-id',
  'content-description',
  'content-disposition',
  'auto-submitted',
  'list-id',
  'list-help',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'list-subscribe',
  'list-post',
  'list-owner',
  'list-archive',
] as const;

/** Folding white space. */
const FOLD = '\r\n\t';

/** Signature lifetime: covers all delivery retries, and limits replay. */
const VALID_SECONDS = 7 * 24 * 3600;

/**
 * Creates the DKIM-Signature fields to prepend to a message, one a key, with CRLF. `header` is the header block with or
 * without its empty line, `bodyHash` comes from a body hasher, `now` is ms UTC. RSA signs off the calling thread.
 * RFC 6376, RFC 8463.
 *
 * Never sets `l=`, which would let anyone append to the body.
 */
export async function signHeaders(
  header: Uint8Array,
  bodyHash: Buffer,
  keys: readonly DkimKey[],
  now: number,
): Promise<Buffer> {
  if (keys.length === 0) return Buffer.alloc(0);
  const text = Buffer.from(header.buffer, header.byteOffset, header.byteLength).toString('latin1');
  const { names, canonical } = selectFields(readFields(text));
  const made = await Promise.all(keys.map((key) => signOne(key, names, canonical, bodyHash, now)));
  return Buffer.from(made.join(''), 'latin1');
}

async function signOne(
  key: DkimKey,
  names: readonly string[],
  canonical: string,
  bodyHash: Buffer,
  now: number,
): Promise<string> {
  const seconds = Math.floor(now / 1000);
  const unsigned = fold([
    'v=1;',
    ` a=${key.algorithm};`,
    ' c=relaxed/relaxed;',
    ` d=${key.domain};`,
    ` s=${key.selector};`,
    ` t=${seconds};`,
    ` x=${seconds + VALID_SECONDS};`,
    ...names.map((name, at) => `${at === 0 ? ' h=' : ''}${name}${at === names.length - 1 ? ';' : ':'}`),
    ` bh=${bodyHash.toString('base64')};`,
    ' b=',
  ]);
  // RFC 6376 3.7: the signature field comes last, with an empty b= and without its line end.
  const signature = await signData(key, `${canonical}dkim-signature:${unsigned.replaceAll(FOLD, ' ')}`);
  return `DKIM-Signature: ${unsigned}${foldSignature(signature)}\r\n`;
}

/** Selects the fields for `h=` (`more` names last) and their canonical octets. Repeated fields are taken from the last up. */
export function selectFields(
  fields: readonly Field[],
  more: readonly string[] = [],
): { names: string[]; canonical: string } {
  const byName = new Map<string, Field[]>();
  for (const field of fields) {
    const same = byName.get(field.name);
    if (same === undefined) byName.set(field.name, [field]);
    else same.push(field);
  }
  const names: string[] = [];
  let canonical = '';
  const take = (name: string): void => {
    for (const field of (byName.get(name) ?? []).reverse()) {
      names.push(name);
      canonical += `${canonicalField(name, field.value)}\r\n`;
    }
  };
  for (const name of OVERSIGNED) {
    take(name);
    names.push(name);
  }
  for (const name of [...SIGNED, ...more]) take(name);
  return { names, canonical };
}

/** Relaxed header canonicalization without the line end. RFC 6376 3.4.2. */
export function canonicalField(name: string, value: string): string {
  // Not trim(): it strips 0xA0, which is the last octet of many UTF-8 letters.
  const oneLine = value.replace(/[\r\n]+/g, '').replace(/[ \t]+/g, ' ');
  return `${name}:${oneLine.replace(/^ | $/g, '')}`;
}

/** RFC 8463 3: Ed25519 signs the SHA-256 of the octets, not the octets. */
export function signData(key: DkimKey, text: string): string | Promise<string> {
  const octets = Buffer.from(text, 'latin1');
  const ed25519 = key.algorithm === 'ed25519-sha256';
  // Cheaper than a thread switch.
  if (ed25519) return sign(null, hash('sha256', octets, 'buffer'), key.key).toString('base64');
  return new Promise((resolve, reject) => {
    sign('sha256', octets, key.key, (error, signature) => {
      if (error === null) resolve(signature.toString('base64'));
      else reject(error);
    });
  });
}

/** Joins words and folds before a word that would exceed 78 columns. A leading space of a word is kept. */
export function fold(words: readonly string[], name = 'DKIM-Signature'): string {
  let out = '';
  let length = name.length + 2;
  for (const word of words) {
    if (length + word.length > 76 && out !== '') {
      out += FOLD + word.trimStart();
      length = 1 + word.trimStart().length;
    } else {
      out += word;
      length += word.length;
    }
  }
  return out;
}

/** Folds a signature; white space inside b= is ignored. RFC 6376 3.5. */
export function foldSignature(signature: string): string {
  return (signature.match(/.{1,72}/g) ?? []).map((line) => `\r\n\t${line}`).join('');
}
