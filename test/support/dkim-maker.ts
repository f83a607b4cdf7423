import { createHash, generateKeyPairSync, type KeyObject, createPublicKey, sign } from 'node:crypto';

/** Keys of all types in use, generated once a process. */
export const SIGNING_KEYS = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  rsa1024: generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey,
  rsa768: generateKeyPairSync('rsa', { modulusLength: 768 }).privateKey,
  ed25519: generateKeyPairSync('ed25519').privateKey,
} as const;

/** `p=` of the record of a key. */
export function publicPart(key: KeyObject, type: 'spki' | 'pkcs1' = 'spki'): string {
  const made = createPublicKey(key);
  if (key.asymmetricKeyType !== 'ed25519') return made.export({ type, format: 'der' }).toString('base64');
  return Buffer.from(made.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');
}

export interface SignatureInput {
  /** The whole message, its fields with CRLF, an empty line, the body. */
  message: string;
  key?: KeyObject;
  /** Tags in order; `bh` and `b` are computed unless given, undefined omits a tag. */
  tags?: Record<string, string | undefined>;
  field?: string;
  /** Hash algorithm. */
  digest?: 'sha256' | 'sha1';
  /** False writes the field on one line. */
  fold?: boolean;
}

/**
 * Prepends a DKIM-Signature to a message. Signs any input, valid or not, and shares nothing with the engine.
 */
export function signMessage({
  message,
  key = SIGNING_KEYS.rsa,
  tags = {},
  field = 'DKIM-Signature',
  digest = 'sha256',
  fold = true,
}: SignatureInput): string {
  const ed25519 = key.asymmetricKeyType === 'ed25519';
  const all: Record<string, string | undefined> = {
    v: '1',
    a: `${ed25519 ? 'ed25519' : 'rsa'}-${digest}`,
    c: 'relaxed/relaxed',
    d: 'box.test',
    s: ed25519 ? 'ed' : 'rsa',
    h: 'from:to:subject',
    bh: '',
    ...tags,
  };
  const split = message.startsWith('\r\n') ? 0 : message.indexOf('\r\n\r\n') + 2;
  const [header = 'simple', body = 'simple'] = (all['c'] ?? 'simple/simple').split('/');
  const canonical = canonicalBody(message.slice(split + 2), body === 'relaxed');
  const covered = all['l'] === undefined ? canonical : canonical.slice(0, Number(all['l']));
  if (tags['bh'] === undefined) all['bh'] = createHash(digest).update(covered, 'latin1').digest('base64');
  const joint = fold ? ';\r\n\t' : '; ';
  const texts = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  const unsigned = `${field}: ${texts.join(joint)}${joint}b=`;
  const fields = message.slice(0, split).match(/[^\r\n][^\n]*\n(?:[ \t][^\n]*\n)*/g) ?? [];
  const rest = [...fields];
  let data = '';
  for (const name of (all['h'] ?? '').split(':').map((one) => one.trim().toLowerCase())) {
    const at = rest.findLastIndex((one) => one.slice(0, one.indexOf(':')).trim().toLowerCase() === name);
    if (at >= 0) data += canonicalField(rest.splice(at, 1)[0] ?? '', header === 'relaxed') + '\r\n';
  }
  data += canonicalField(unsigned, header === 'relaxed');
  const octets = Buffer.from(data, 'latin1');
  const made = ed25519 ? sign(null, createHash('sha256').update(octets).digest(), key) : sign(digest, octets, key);
  return `${unsigned}${made.toString('base64')}\r\n${message}`;
}

function canonicalField(field: string, relaxed: boolean): string {
  const whole = field.replace(/\r\n$/, '');
  if (!relaxed) return whole;
  const colon = whole.indexOf(':');
  const value = whole
    .slice(colon + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ');
  return `${whole.slice(0, colon).trim().toLowerCase()}:${value.replace(/^ /, '').replace(/ $/, '')}`;
}

function canonicalBody(body: string, relaxed: boolean): string {
  const lines = body.split('\r\n').map((line) => (relaxed ? line.replace(/[ \t]+/g, ' ').replace(/ $/, '') : line));
  while (lines.at(-1) === '') lines.pop();
  return lines.length === 0 ? (relaxed ? '' : '\r\n') : `${lines.join('\r\n')}\r\n`;
}
