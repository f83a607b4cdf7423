import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
/** Opens what an agent is about to send, up to so many octets: test/matrix/secrets/packed.test.ts. */
const BOUNDED = 'mail/message/archive/inflate.ts';
/** Whatever unpacks, and the client of HTTP that does so by itself. */
const UNPACKS = /node:zlib|DecompressionStream|\bundici\b|(?<![.#\w])fetch\((?!domain)/;

test('nothing that a peer packed is unpacked but in one place, which has a bound', () => {
  const files = ['mail', 'src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((name) => UNPACKS.test(readFileSync(join(ROOT, name), 'utf8')))).toEqual([BOUNDED]);
});
