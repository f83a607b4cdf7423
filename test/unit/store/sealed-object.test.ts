import { mkdtempDisposable, open, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSealed } from '../../../mail/store/bucket/sealed-object.ts';

test('a bucket that sends without end is left at the limit of octets, and its connection is closed', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'sealed-'));
  let [sent, closed] = [0, false];
  const endless = async function* (): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        // The first octet is the version of the form.
        yield Buffer.alloc(64 * 1024, 1);
        sent += 64 * 1024;
      }
    } finally {
      closed = true;
    }
  };
  const path = join(directory.path, 'draft');
  await using file = await open(path, 'wx');
  const most = 1024 * 1024;
  await expect(openSealed(endless(), 'a'.repeat(32), Buffer.alloc(32), file, most)).rejects.toThrow(
    `it has more than ${most} octets`,
  );
  expect(sent).toBeLessThanOrEqual(most + 64 * 1024);
  expect((await stat(path)).size).toBeLessThanOrEqual(most);
  expect(closed).toBe(true);
});
