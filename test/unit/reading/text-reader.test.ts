import { afterEach, describe, expect, test } from 'vitest';
import { MemoryBudget } from '../../../mail/limits/memory-budget.ts';
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
    let now = 0;
    open({ thread: threadThat(`parentPort.postMessage({ value: 'apart' })`), clock: () => now });
    const all = (html: string): Promise<(string | undefined)[]> =>
      Promise.all(Array.from({ length: 40 }, () => opening(html)));
    // The first ones are slow, as nothing is compiled yet.
    const laterAll = (): Promise<(string | undefined)[]> => {
      now += 1_000;
      return all('<p>seen');
    };
    await expect.poll(async () => new Set(await laterAll())).toEqual(new Set(['seen']));
    const costly = `<style>${'a,'.repeat(2_000)}a{b:c}</style>${'<a>'.repeat(1_000)}seen`;
    expect((await all(costly)).filter((one) => one === 'apart').length).toBeGreaterThan(20);
    now += 1_000;
    expect(await opening('<p>seen')).toBe('seen');
  });

  test('gives up on an endless text, logs it, and continues with the next', async () => {
    open({
      // Includes the start of a thread, which a busy machine takes a second for.
      longestMs: 5_000,
      thread: threadThat(`if (text.includes('loop')) for (;;); parentPort.postMessage({ value: 'read' })`),
    });
    const all = [long('one'), long('loop'), long('two')].map(opening);
    expect(await Promise.all(all)).toEqual(['read', undefined, 'read']);
    expect(said).toEqual([expect.stringContaining('it took too long')]);
  });

  test('gives up on a text that exhausts memory or throws', async () => {
    open({
      heapMb: 32,
      longestMs: 100_000,
      thread: threadThat(
        `const all = []; if (text.includes('much')) for (;;) all.push(new Array(1e6).fill(text)); parentPort.postMessage({ failed: 'thrown' })`,
      ),
    });
    expect(await opening(long('much'))).toBeUndefined();
    expect(await opening(long('throw'))).toBeUndefined();
    expect(said).toEqual([expect.stringContaining('memory'), expect.stringContaining('thrown')]);
  });

  test('refuses what memory is not left for, and settles waiting calls on close', async () => {
    const memory = new MemoryBudget(60_000_000);
    open({ thread: threadThat(''), memory });
    const large = encodedHtml('a'.repeat(20_000_000));
    const read = (organization: number): Promise<string | undefined> => reader.for(organization).read('opening', large);
    const waiting = [read(1)];
    await expect.poll(() => memory.held).toBeGreaterThan(0);
    // It may hold as much as stays free of the 40 MB left.
    await expect(read(1)).rejects.toThrow(RefusedError);
    waiting.push(read(2));
    await reader[Symbol.asyncDispose]();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    expect(memory.held).toBe(0);
    await expect(read(3)).rejects.toThrow(RefusedError);
  });

  test('texts that take long hold up no other organization: each holds one thread at a time', async () => {
    const gate = new SharedArrayBuffer(4);
    open({
      thread: threadThat(`if (text.includes('wait')) Atomics.wait(new Int32Array(job.gate), 0, 0);
      parentPort.postMessage({ value: 'read' })`),
    });
    const ended: string[] = [];
    const read = async (organization: number, word: string): Promise<void> => {
      const job = { ...encodedHtml(long(word)), gate };
      await reader.for(organization).read('opening', job);
      ended.push(`${organization} ${word}`);
    };
    const first = ['wait 1', 'wait 2', 'wait 3'].map((word) => read(1, word));
    // They would wait for ever behind the first three: these end only after them.
    await Promise.all(['a', 'b', 'c'].map((word) => read(2, word)));
    expect(ended).toEqual(['2 a', '2 b', '2 c']);
    const others = [read(2, 'wait d'), read(3, 'wait e'), read(4, 'f')];
    Atomics.store(new Int32Array(gate), 0, 1);
    Atomics.notify(new Int32Array(gate), 0);
    await Promise.all([...first, ...others]);
    expect(ended).toHaveLength(9);
  });
});
