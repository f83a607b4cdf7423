import type { Random } from './imap-fuzz.ts';

/** A JSON schema as far as samples are made from it. */
export interface Schema {
  type?: string;
  enum?: readonly unknown[];
  pattern?: string;
  format?: string;
  properties?: Readonly<Record<string, Schema>>;
  items?: Schema;
  anyOf?: readonly Schema[];
}

/** Values that somebody has tripped over somewhere. */
const ODD = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '1.5',
  '1e308',
  '1e999999',
  '-1e-999999',
  '9007199254740993',
  `1${'0'.repeat(400)}`,
  '2147483648',
  '""',
  '" "',
  '"0"',
  '"null"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"a\\r\\nX: y"',
  '"\\u2028\\u2029"',
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"\\u202eevil"',
  '"\\u200b\\ufeff"',
  '"e\\u0301\\u0301\\u0301"',
  '"\u{1f469}\u200d\u{1f469}\u200d\u{1f467}"',
  '"\ufdfa\u0130\u1e9e\ufb03"',
  '"\u{e0041}\u{e0042}"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"../../../etc/passwd"',
  `"' OR 1=1; DROP TABLE token --"`,
  '"${7*7}{{7*7}}<%= 7*7 %>"',
  '"$(id)`id`"',
  '"xn--a"',
  '"xn--zzzzzzzzzzzz.example"',
  '"\\\\u{10ffff}"',
  '[]',
  '[null]',
  '[[[[]]]]',
  '{}',
  '{"__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":{"isAdmin":true}}}',
  '{"a":1,"a":2,"a":{}}',
  '{"":""}',
  '{"length":1e9,"0":0}',
  '{"toJSON":1,"then":2,"valueOf":3}',
] as const;

/** Texts that only look like JSON. */
const BROKEN = [
  'NaN',
  'undefined',
  "'a'",
  '"\\x"',
  '"\\ud8"',
  '01',
  '+1',
  '.5',
  '[1,]',
  '{"a":1,}',
  '/**/1',
  '\ufeff1',
  '"\t"',
] as const;

const WORDS = [
  'Acme',
  'anna@box.test',
  'anna+tag@box.test',
  'box.test',
  'mail.example',
  'https://hook.example/in',
  'http://127.0.0.1:1/x',
  'https://[::ffff:10.0.0.1]/',
  '2030-01-01T00:00:00Z',
  '1970-01-01T00:00:00Z',
  '2',
  'read',
  'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=',
] as const;

/** One of them. */
export function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)] as T;
}

/** Anything, as JSON text: mostly small, now and then long or deep. */
export function oddValue(random: Random): string {
  switch (random(14)) {
    case 0:
      return nested(random, pick(random, [3, 20, 31, 33, 100, 5_000]));
    case 1:
      return JSON.stringify(
        pick(random, ['a', '\u00e9', '\u{1f600}', '\0', ' ', '%00', '\\', '"']).repeat(random(3_000)),
      );
    case 2:
      return `[${Array.from({ length: random(60) }, () => pick(random, ODD)).join()}]`;
    case 3:
      return object(random, () => JSON.stringify(pick(random, WORDS)));
    case 4:
      return JSON.stringify(pick(random, WORDS));
    default:
      return pick(random, random(20) === 0 ? BROKEN : ODD);
  }
}

function nested(random: Random, depth: number): string {
  const [open, close] = pick(random, [
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"__proto__":', '}]'],
  ] as const);
  // Sometimes never closed.
  return `${open.repeat(depth)}1${random(15) === 0 ? '' : close.repeat(depth)}`;
}

function object(random: Random, value: () => string): string {
  const names = ['a', 'name', 'arguments', '__proto__', 'constructor', 'organizationId', 'limit', '', '\u{1f511}'];
  const members = Array.from({ length: random(6) }, () => `${JSON.stringify(pick(random, names))}:${value()}`);
  return `{${members.join()}}`;
}

/** A value that the schema would take, or nearly. */
export function likely(random: Random, schema: Schema): string {
  if (schema.enum !== undefined) return JSON.stringify(pick(random, schema.enum));
  if (schema.anyOf !== undefined) return likely(random, pick(random, schema.anyOf));
  switch (schema.type) {
    case 'string': {
      const prefix = /^\^([a-z]{3})_/.exec(schema.pattern ?? '')?.[1];
      return JSON.stringify(prefix === undefined ? pick(random, WORDS) : `${prefix}_${1 + random(9)}`);
    }
    case 'integer':
    case 'number':
      return String(random(120));
    case 'boolean':
      return pick(random, ['true', 'false']);
    case 'array':
      return `[${Array.from({ length: random(4) }, () => likely(random, schema.items ?? {})).join()}]`;
    case 'object':
      return likelyArguments(random, schema, 0);
    case undefined:
    default:
      return pick(random, ODD);
  }
}

/** Arguments for a schema, as JSON text; of `odd` in 100 members the value is anything. */
export function likelyArguments(random: Random, { properties = {} }: Schema, odd: number): string {
  const members: string[] = [];
  for (const [name, schema] of Object.entries(properties)) {
    if (random(5) === 0) continue;
    const key = random(20) === 0 ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name;
    members.push(`${JSON.stringify(key)}:${random(100) < odd ? oddValue(random) : likely(random, schema)}`);
    if (random(30) === 0) members.push(members.at(-1) ?? '');
  }
  if (random(12) === 0) members.push(`${JSON.stringify(pick(random, STRANGE_NAMES))}:${oddValue(random)}`);
  return `{${members.join()}}`;
}

const STRANGE_NAMES = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', '', 'nmae', 'a'.repeat(5_000)];

/** Damages a text as a careless or a hostile sender would: cut, doubled, overwritten, with octets that are no UTF-8. */
export function damaged(random: Random, text: string): Buffer {
  const octets = Buffer.from(text);
  const at = random(octets.length + 1);
  switch (random(5)) {
    case 0:
      return octets.subarray(0, at);
    case 1:
      return Buffer.concat([octets, octets.subarray(at)]);
    case 2:
      return Buffer.concat([octets.subarray(0, at), Buffer.from(oddValue(random)), octets.subarray(at)]);
    case 3:
      return Buffer.concat([octets.subarray(0, at), Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0]), octets.subarray(at)]);
    default:
      if (octets.length > 0) octets[at % octets.length] = random(256);
      return octets;
  }
}
