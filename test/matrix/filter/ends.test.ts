import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { FilterClient, type FilterClientOptions } from '../../../mail/filter/client.ts';
import { FilterUnavailable } from '../../../mail/filter/mail-filter.ts';
import { quiet } from '../../../mail/log.ts';
import { from } from '../../support/filter-input.ts';

const THREAD = new URL('../../support/hostile-filter.ts', import.meta.url);
let client: FilterClient;
/** Errors in the log. */
let told: { fields: object; text: string }[];
let counted: string[];
afterEach(() => client[Symbol.asyncDispose]());

function start(more: Partial<FilterClientOptions> = {}): void {
  told = [];
  counted = [];
  const log = { ...quiet, error: (fields: object, text: string) => void told.push({ fields, text }) };
  // To fill the memory may take a slow machine as long as a loop may.
  const times = { restartIntervalMs: 100, cpuMs: 10_000 };
  client = new FilterClient({
    thread: THREAD,
    settings: undefined,
    log,
    meter: { ...quiet, count: (name) => void counted.push(name) },
    ...times,
    ...more,
  });
}

function outcome(who: string, ip: string): Promise<string> {
  return client.filter(from(who, 100, ip)).then(
    ({ findings: [first] }) => first?.rule ?? 'judged',
    (error: Error) => error.message,
  );
}

/** All at once; each from a network of its own. */
function outcomes(...all: string[]): Promise<string[]> {
  return Promise.all(all.map((who, at) => outcome(who, `9.1.${at}.1`)));
}

const guilty = (): object[] => told.flatMap(({ fields }) => ('ip' in fields ? [fields.ip as object] : []));

test('a message that takes all memory is Junk, unchecked; what was there too is filtered', async () => {
  start();
  expect(await outcomes('slow', 'fill', 'slow')).toEqual(['judged', 'unchecked', 'judged']);
  expect(told.at(-1)).toEqual({
    fields: { message: 't', ip: '9.1.1.1', size: 100 },
    text: 'the checks of a message ran out of memory, filed as junk',
  });
  expect(guilty()).toEqual(['9.1.1.1']);
});

test('of a message that no other was beside nobody asks twice', async () => {
  start();
  expect(await outcome('fill', '9.1.1.1')).toBe('unchecked');
  expect(told).toHaveLength(2);
});

test.each(['exit', 'throw'])(
  'a message that ends its thread by "%s" comes again; what was there too is filtered',
  async (way) => {
    start();
    expect(await outcomes('slow', way, 'slow')).toEqual(['judged', 'the filter thread ended', 'judged']);
    expect(guilty()).toEqual(['9.1.1.1']);
  },
);

test('three that end it from one network within an hour, and it is sent away; who was beside them is not', async () => {
  start();
  for (let times = 0; times < 3; times++) {
    expect(await outcomes('slow', 'exit')).toEqual(['judged', 'the filter thread ended']);
  }
  expect(await outcomes('quick', 'quick')).toEqual([
    'judged',
    expect.stringContaining('crashed the filter repeatedly'),
  ]);
});

test.each(['exit', 'throw'])(
  'of those of one network that wait at once no more end a thread by "%s" when three have',
  async (way) => {
    start();
    const all = ['slow', way, way, way, way, way, way];
    const found = await Promise.all(all.map((who, at) => outcome(who, at === 0 ? '9.9.9.9' : '9.1.1.1')));
    expect(found[0]).toBe('judged');
    // One may be on its way here while another is aside.
    expect([3, 4]).toContain(guilty().length);
    expect(found.filter((one) => one.includes('crashed the filter repeatedly'))).toHaveLength(6 - guilty().length);
  },
);

test('an error that comes after its message was answered is laid to no other message', async () => {
  start();
  const ended = 'the filter thread ended';
  expect(await outcomes('stray', 'long', 'exit')).toEqual(['judged', 'judged', ended]);
  expect(guilty()).toEqual(['9.1.2.1']);
});

test('a thread that ends when nobody is there any more is nobody’s', async () => {
  start();
  expect(await outcome('stray', '9.1.1.1')).toBe('judged');
  await expect.poll(() => told).toHaveLength(1);
  expect(await outcome('quick', '9.1.1.1')).toBe('judged');
  expect(guilty()).toEqual([]);
});

test('a thread that cannot even start is tried once a second, and mail comes again', async () => {
  start({ thread: new URL(`data:text/javascript,throw new Error('no database')`), restartIntervalMs: 1_000 });
  const until = performance.now() + 2_500;
  while (performance.now() < until)
    await expect(client.filter(from('quick'))).rejects.toBeInstanceOf(FilterUnavailable);
  expect(told.length).toBeGreaterThan(1);
  expect(told.length).toBeLessThanOrEqual(4);
  expect(guilty()).toEqual([]);
});

test('what waits for the next thread is refused when the filter is closed', async () => {
  start({ restartIntervalMs: 60_000 });
  await expect(client.filter(from('exit'))).rejects.toThrow('ended');
  const waits = client.filter(from('quick'));
  await Promise.all([expect(waits).rejects.toBeInstanceOf(FilterUnavailable), client[Symbol.asyncDispose]()]);
});

test('who stands in line when the filter is closed is refused, and no thread starts for it', async () => {
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const counting =
    "import { workerData } from 'node:worker_threads'; Atomics.add(workerData, 0, 1); setInterval(() => {}, 1e6);";
  start({
    thread: new URL(`data:text/javascript,${encodeURIComponent(counting)}`),
    settings: begun,
    restartIntervalMs: 0,
  });
  const all = Array.from({ length: 9 }, () => client.filter(from('long', 2_000_000)));
  await expect.poll(() => begun[0]).toBe(1);
  const ends = Promise.allSettled(all);
  await client[Symbol.asyncDispose]();
  const reasons = (await ends).map((one) => (one.status === 'rejected' ? (one.reason as Error).name : 'judged'));
  expect(reasons).toEqual(all.map(() => 'FilterUnavailable'));
  await sleep(500);
  expect(begun[0]).toBe(1);
});

test('who stands in line when the filter is closed between two threads is refused at once', async () => {
  start({ restartIntervalMs: 60_000 });
  await expect(client.filter(from('exit'))).rejects.toThrow('ended');
  const all = Array.from({ length: 9 }, () =>
    client.filter(from('quick', 2_000_000)).catch((error: Error) => error.name),
  );
  await sleep(50);
  await client[Symbol.asyncDispose]();
  expect(await Promise.race([Promise.all(all), sleep(10_000)])).toEqual(all.map(() => 'FilterUnavailable'));
});

test('a thread that cannot be made refuses mail, and is no end of the process', async () => {
  // Cannot cross to a thread: what a box without a free thread does, too, `new Worker` throws.
  start({ settings: () => undefined });
  for (let times = 0; times < 2; times++) {
    await expect(client.filter(from('quick'))).rejects.toBeInstanceOf(FilterUnavailable);
  }
});

test('many messages that stop waiting at the same moment are no loop, however long they take together', async () => {
  start({ cpuMs: 600 });
  const all = Array.from({ length: 50 }, () => 'together');
  expect(await outcomes(...all)).toEqual(all.map(() => 'judged'));
  expect(told).toEqual([]);
  expect(counted).toEqual([]);
});

test('the thread aside has ended when the filter is closed, also one that just had its last message', async () => {
  const live = new Int32Array(new SharedArrayBuffer(8));
  // The first thread ends over two messages; each takes a while to close.
  const code = `
    import { parentPort, workerData } from 'node:worker_threads';
    Atomics.add(workerData, 0, 1);
    process.on('exit', () => Atomics.sub(workerData, 0, 1));
    parentPort.on('message', ({ kind, id }) => {
      if (kind === 'close') return setTimeout(() => parentPort.close(), 300);
      parentPort.postMessage({ kind: 'started', id });
      const times = Atomics.add(workerData, 1, 1);
      if (times === 1) process.exit(1);
      if (times > 1) parentPort.postMessage({ kind: 'response', id, value: { findings: [] } });
    });`;
  start({ thread: new URL(`data:text/javascript,${encodeURIComponent(code)}`), settings: live });
  expect(await outcomes('quick', 'quick')).toEqual(['judged', 'judged']);
  await client[Symbol.asyncDispose]();
  expect(live[0]).toBe(0);
});
