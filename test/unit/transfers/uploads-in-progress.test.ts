import { PassThrough, type Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { UploadsInProgress } from '../../../src/transfers/uploads-in-progress.ts';

/** Reads a body to its end into a list. */
const into =
  (list: string[]) =>
  async (octets: Readable): Promise<string> => {
    for await (const chunk of octets) list.push(String(chunk));
    return 'whole';
  };

test('a new body of an upload ends the one before, and begins when nothing of that can come any more', async () => {
  const uploads = new UploadsInProgress();
  const [lost, again, other] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const written: string[] = [];
  const first = uploads.alone(1, lost, into(written));
  const beside = uploads.alone(2, other, into([]));
  lost.write('old');
  await expect.poll(() => written).toEqual(['old']);
  const second = uploads.alone(1, again, into(written));
  await expect(first).rejects.toThrow(/premature close/i);
  lost.write('late');
  again.end('new');
  other.end('x');
  expect(await Promise.all([second, beside])).toEqual(['whole', 'whole']);
  expect(written).toEqual(['old', 'new']);
});

test('an upload can be sent again after a body of it failed', async () => {
  const uploads = new UploadsInProgress();
  const fail = (): Promise<never> => Promise.reject(new Error('the disk is full'));
  await expect(uploads.alone(1, new PassThrough(), fail)).rejects.toThrow('the disk is full');
  const again = new PassThrough().end('x');
  expect(await uploads.alone(1, again, into([]))).toBe('whole');
});
