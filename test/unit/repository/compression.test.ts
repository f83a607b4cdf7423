import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const BOUNDED = [
  // Objects of backups, which are authenticated first, up to a bound: test/contract/backup.test.ts.
  'mail/backup/envelope.ts',
  // COMPRESS of IMAP: a piece at a time, as fast as commands are run: test/unit/imap/compression.test.ts.
  'mail/imap/compression.ts',
  // Opens what an agent is about to send, up to so many octets: test/matrix/secrets/packed.test.ts; and reports of other
  // servers: test/unit/reports/read-report.test.ts.
  'mail/message/archive/inflate.ts',
];
/** They unpack nothing that a peer packed: web mail and reports pack their own files, and pages ask their own server. */
const OWN = [
  'src/portal/client/live-section.ts',
  'src/portal/client/mail-upload.ts',
  'src/portal/client/palette.ts',
  'src/reports/outgoing-report.ts',
  'src/webmail/asset.ts',
  'src/webmail/client/jmap.ts',
  'src/webmail/installable.ts',
];
const PEER = /unzip|inflate|brotliDecompress|DecompressionStream/i;
/** Whatever unpacks, and the client of HTTP that does so by itself. */
const UNPACKS = /node:zlib|DecompressionStream|\bundici\b|(?<![.#\w])fetch\((?!domain)/;

test('nothing that a peer packed is unpacked but in three places, which have a bound', () => {
  const files = ['mail', 'src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  expect(files.length).toBeGreaterThan(500);
  const found = files.filter((name) => UNPACKS.test(readFileSync(join(ROOT, name), 'utf8')));
  expect(found.toSorted()).toEqual([...BOUNDED, ...OWN].toSorted());
  for (const name of OWN) expect(readFileSync(join(ROOT, name), 'utf8')).not.toMatch(PEER);
});
