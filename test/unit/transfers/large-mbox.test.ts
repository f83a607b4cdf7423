import { expect, test } from 'vitest';
import { MboxReader } from '../../../mail/transfer/mbox-reader.ts';
import type { RandomReader } from '../../../mail/transfer/source-message.ts';

const GIB = 2 ** 30;
const MESSAGES = 5;
const LINE = 'From ann@a.example Mon Nov 23 08:00:00 2026\n';
const BEGIN = Buffer.from(`\n\n${LINE}Subject: large\n\n`);
const FILLER = Buffer.alloc(4 * 1024 * 1024, 'x');

/** A file of several GiB with a message in each, whose octets are created when they are read. */
class LargeFile implements RandomReader {
  readonly size = MESSAGES * GIB;
  octetsRead = 0;
  largest = 0;

  read(position: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - position));
    this.octetsRead += wanted;
    this.largest = Math.max(this.largest, wanted);
    const octets = FILLER.subarray(0, wanted);
    // The two line ends before a message are the last octets of the GiB before it.
    const start = Math.round((position + wanted / 2) / GIB) * GIB - 2;
    if (start + BEGIN.length <= position || start >= position + wanted) return Promise.resolve(octets);
    const changed = Buffer.from(octets);
    for (let at = 0; at < BEGIN.length; at++) {
      const where = start + at - position;
      if (where >= 0 && where < wanted) changed[where] = BEGIN[at] ?? 0;
    }
    return Promise.resolve(changed);
  }
}

test('an mbox file of more than 4 GiB is read once, in small pieces', async () => {
  const file = new LargeFile();
  const reader = (await MboxReader.open(file)) ?? expect.fail('no mbox');
  const found: [number, number][] = [];
  for await (const { start, end } of reader.messages()) found.push([start, end]);
  expect(found).toEqual(
    // The blank line before a From_ line, and that at the end of the file, belongs to no message.
    Array.from({ length: MESSAGES }, (_, n) => [n * GIB + LINE.length, (n + 1) * GIB - 1]),
  );
  expect(file.largest).toBeLessThanOrEqual(256 * 1024);
  expect(file.octetsRead).toBeLessThan(file.size * 1.01);
});
