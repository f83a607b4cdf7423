import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { BlobFiles } from '../../../mail/store/blob/blob.ts';

/** Collects garbage: only what is held counts, not what other files left behind. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
}

test('a message that comes an octet at a time holds little more memory than it has octets', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailstead-test-'));
  const files = new BlobFiles(dataDir);
  const held = (): number => {
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = held();
  const writers = Array.from({ length: 20 }, () => files.create());
  for (const writer of writers) for (let n = 0; n < 60_000; n++) void writer.write(Buffer.allocUnsafeSlow(1).fill(n));
  expect(held() - before).toBeLessThan(150e6); // 300 MB when each octet keeps its own buffer
  const blob = await writers[0]?.finish();
  const data = blob !== undefined && 'data' in blob ? blob.data : new Uint8Array();
  expect(data.every((octet, n) => octet === n % 256)).toBe(true);
  expect(data).toHaveLength(60_000);
  rmSync(dataDir, { recursive: true });
});
