import { afterEach, describe, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { TextReader, type TextReaderOptions } from '../../../src/reading/worker/text-reader.ts';
import { RefusedError } from '../../../src/core/refusal.ts';
import { encodedHtml } from '../../support/encoded.ts';

let reader: TextReader;
const said: string[] = [];
afterEach(async () => {
  await reader[Symbol.asyncDispose]();
  said.length = 0;
});

const log = { ...quiet, warn: (fields: object) => said.push(JSON.stringify(fields)) };
/** A thread that does this, once what it reads. */
const threadThat = (code: string): URL =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads'; parentPort.on('message', ({ job }) => { const text = new TextDecoder().decode(job.octets); ${code} });`)}`,
  );
const open = (options: Partial<TextReaderOptions> = {}): TextReader => (reader = new TextReader({ log, ...options }));
const opening = (html: string): Promise<string | undefined> => reader.read('opening', encodedHtml(html));
const long = (html: string): string => html + '<!-- -->'.repeat(5_000);

describe('the text reader', () => {
  test('reads the same in the worker as inline', async () => {
    open();
    const html = '<p style="display:none">hidden</p><p>seen <a href="https://a.example">x</a></p>';
    expect(await opening(html)).toBe('seen x [link a.example]');
    expect(await opening(long(html))).toBe('seen x [link a.example]');
    const job = { html: [encodedHtml(html)], text: [], form: 'markdown', links: true } as const;
    const read = await reader.read('texts', job);
    expect(read).toMatchObject({ urls: ['https://a.example'], links: [{ handle: 'link:1' }], unread: false });
    expect(await reader.read('texts', { ...job, html: [encodedHtml(long(html))] })).toEqual(read);
  });

  test('reads short texts inline within the CPU budget', async () => {
    open({ thread: threadThat(`parentPort.postMessage({ value: 'apart' })`) });
    const all = (html: string): Promise<(string | undefined)[]> =>
      Promise.all(Array.from({ length: 40 }, () => opening(html)));
    // The first ones are slow, as nothing is compiled yet.
    await expect.poll(async () => new Set(await all('<p>seen'))).toEqual(new Set(['seen']));
    const costly = `<style>${'a,'.repeat(2_000)}a{b:c}</style>${'<a>'.repeat(1_000)}seen`;
    expect((await all(costly)).filter((one) => one === 'apart').length).toBeGreaterThan(30);
    // They have time again.
    await expect.poll(() => opening('<p>seen')).toBe('seen');
  });

  test('gives up on an endless text, logs it, and continues with the next', async () => {
    open({
      longestMs: 1_000,
      thread: threadThat(`if (text.includes('loop')) for (;;); parentPort.postMessage({ value: 'read' })`),
    });
    const all = [long('one'), long('loop'), long('two')].map(opening);
    expect(await Promise.all(all)).toEqual(['read', undefined, 'read']);
    expect(said).toEqual([expect.stringContaining('it took too long')]);
  });

  test('gives up on a text that exhausts memory or throws', async () => {
    open({
      thread: threadThat(
        `const all = []; if (text.includes('much')) for (;;) all.push(new Array(1e6).fill(text)); parentPort.postMessage({ failed: 'thrown' })`,
      ),
    });
    expect(await opening(long('much'))).toBeUndefined();
    expect(await opening(long('throw'))).toBeUndefined();
    expect(said).toEqual([expect.stringContaining('memory'), expect.stringContaining('thrown')]);
  });

  test('refuses over the queue limit, and settles waiting calls on close', async () => {
    open({ thread: threadThat('') });
    const large = 'a'.repeat(20 * 1024 * 1024);
    const waiting = Array.from({ length: 3 }, () => opening(large));
    await expect(opening(large)).rejects.toThrow(RefusedError);
    await reader[Symbol.asyncDispose]();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined]);
    await expect(opening(large)).rejects.toThrow(RefusedError);
  });
});
