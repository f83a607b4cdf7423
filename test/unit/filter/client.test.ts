import { afterEach, expect, test } from 'vitest';
import { FilterClient, type FilterClientOptions } from '../../../mail/filter/client.ts';
import { FilterUnavailable } from '../../../mail/filter/mail-filter.ts';
import { quiet } from '../../../mail/log.ts';
import { from } from '../../support/filter-input.ts';

/** A thread that answers its settings, unless the sender says what it is to do instead. */
const THREAD = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, workerData } from 'node:worker_threads';
    const held = [];
    const works = (id) => {
      parentPort.postMessage({ kind: 'started', id });
      const { user, system } = process.threadCpuUsage();
      parentPort.postMessage({ kind: 'heartbeat', cpu: (user + system) / 1000 });
    };
    parentPort.on('message', ({ kind, id, mail, source }) => {
      if (kind === 'close') parentPort.close();
      else if (source?.octets === 'die') { works(id); process.exit(1); }
      else if (kind === 'words') {
        const there = source.octets === 'free' ? held.splice(0) : [];
        parentPort.postMessage({ kind: 'response', id, value: there.length > 0 ? there : [...held] });
        for (const one of there) parentPort.postMessage({ kind: 'response', id: one, value: workerData });
      }
      else if (mail.sender === 'loop') for (;;);
      else if (mail.sender === 'spin') { works(id); for (;;); }
      else if (mail.sender === 'long') {
        works(id);
        setTimeout(() => parentPort.postMessage({ kind: 'response', id, value: workerData }), 100);
      }
      else if (mail.sender === 'sleep') { works(id); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000); parentPort.postMessage({ kind: 'response', id, value: workerData }); }
      else if (mail.sender === 'slow') setInterval(() => parentPort.postMessage({ kind: 'heartbeat' }), 20);
      else if (mail.sender === 'hold') held.push(id);
      else if (mail.sender === 'begin') works(id);
      else if (mail.sender === 'fail') parentPort.postMessage({ kind: 'failed', id, message: 'not now', stack: 'there' });
      else parentPort.postMessage({ kind: 'response', id, value: workerData });
    });`)}`,
);
const VALUE = { findings: [] };
let client: FilterClient;
afterEach(() => client[Symbol.asyncDispose]());

function start(more: Partial<FilterClientOptions> = {}): FilterClient {
  return (client = new FilterClient({ thread: THREAD, settings: VALUE, log: quiet, meter: quiet, ...more }));
}

test('asks its thread, which starts with the first message', async () => {
  await expect(start().filter(from('anna'))).resolves.toEqual(VALUE);
});

test('a message that fails there fails here, and the next one does not', async () => {
  start();
  await expect(client.filter(from('fail'))).rejects.toThrow('not now');
  await expect(client.filter(from('anna'))).resolves.toEqual(VALUE);
});

test('a message that takes long fails alone, and its thread goes on', async () => {
  start({ timeoutMs: 1_000, silenceMs: 10_000 });
  await client.filter(from('anna'));
  await expect(client.filter(from('slow'))).rejects.toThrow('timed out');
  await expect(client.filter(from('anna'))).resolves.toEqual(VALUE);
});

test('a thread that never says anything is ended, and another one starts', async () => {
  // The start of a thread is silent, too, and a busy machine takes a second for it.
  start({ timeoutMs: 60_000, silenceMs: 3_000 });
  await expect(client.filter(from('loop'))).rejects.toThrow('ended');
  await expect.poll(() => client.filter(from('anna')).catch(() => 'away')).toEqual(VALUE);
});

const outcome = ({ findings }: { findings: readonly { rule: string }[] }): string => findings[0]?.rule ?? 'judged';

test('a message that keeps the thread looping is Junk, unchecked, and is reported; what was there too is filtered', async () => {
  const told: object[] = [];
  const counted: string[] = [];
  const log = { ...quiet, error: (fields: object) => void told.push(fields) };
  start({ log, meter: { ...quiet, count: (name) => void counted.push(name) }, timeoutMs: 20_000, cpuMs: 300 });
  const all = ['long', 'spin', 'ben', 'spin'].map((who, at) => client.filter(from(who, 100, `9.1.${at}.1`)));
  const found = await Promise.all(all.map((each) => each.then(outcome)));
  expect(found).toEqual(['judged', 'unchecked', 'judged', 'unchecked']);
  // The first one loops beside another and is asked about alone; the second one has the next thread for itself.
  expect(told).toHaveLength(2);
  expect(told).toContainEqual({ message: 't', ip: '9.1.1.1', size: 100 });
  expect(told).toContainEqual({ message: 't', ip: '9.1.3.1', size: 100 });
  expect(counted.filter((name) => name === 'filter_loops_total')).toHaveLength(3);
});

test('while those that may be in a loop are looked at alone the next ones are filtered', async () => {
  start({ timeoutMs: 20_000, cpuMs: 500 });
  const order: string[] = [];
  const ask = async (who: string): Promise<void> => {
    const found = outcome(await client.filter(from(who)));
    order.push(`${who} ${found}`);
  };
  // The one that takes its time is innocent, and nobody knows.
  await Promise.all(['long', 'spin', 'anna', 'ben'].map(ask));
  expect(order.indexOf('anna judged')).toBeLessThan(order.indexOf('spin unchecked'));
  expect(order.toSorted()).toEqual(['anna judged', 'ben judged', 'long judged', 'spin unchecked']);
});

test('three that loop from one network within an hour, and it is sent away', async () => {
  start({ timeoutMs: 20_000, cpuMs: 100 });
  for (let times = 0; times < 3; times++) await client.filter(from('spin', 1, '9.1.2.7'));
  await expect(client.filter(from('anna', 1, '9.1.2.9'))).rejects.toThrow('crashed the filter repeatedly');
  expect(outcome(await client.filter(from('anna', 1, '9.9.9.9')))).toBe('judged');
});

test('what nobody waits for any more, and whose octets may be gone, is not asked about again after a loop', async () => {
  const counted: string[] = [];
  start({ timeoutMs: 300, cpuMs: 1_000, meter: { ...quiet, count: (name) => void counted.push(name) } });
  const given = ['hold', 'begin'].map((sender) => ({ ...from(sender), octets: new Uint8Array(8) }));
  const late = await Promise.allSettled(given.map((mail) => client.filter(mail)));
  expect(late.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  for (const { octets } of given) octets.buffer.transfer(0);
  await expect(client.filter(from('spin'))).rejects.toThrow('timed out');
  await expect.poll(() => counted).toEqual(['filter_loops_total']);
  // Its thread has to start, and nobody here waits for long.
  await expect.poll(() => client.filter(from('you@x.example')).catch(() => 'late')).toEqual(VALUE);
});

test('a thread that only waits is in no loop', async () => {
  start({ timeoutMs: 20_000, cpuMs: 100 });
  expect(outcome(await client.filter(from('sleep')))).toBe('judged');
});

test('only so many octets are there at once; large messages wait for each other and for nobody else', async () => {
  start();
  const there = (octets: string): Promise<number[]> =>
    client.words({ octets, headerLength: 0, parts: '', forged: false });
  const large = Array.from({ length: 10 }, () => client.filter(from('hold', 25_000_000)));
  const small = Array.from({ length: 100 }, () => client.filter(from('hold', 1_000_000)));
  // Each weighs twice its size, of 48 MiB together.
  await expect.poll(() => there('')).toHaveLength(8 + 25);
  let done = 0;
  for (const one of [...large, ...small]) void one.then(() => (done += 1));
  await expect.poll(async () => (await there('free'), done)).toBe(110);
});

test('a training sample over which the thread ends is the one that fails; the message beside it is filtered', async () => {
  start();
  const message = client.filter(from('long'));
  const training = client.words({ octets: 'die', headerLength: 0, parts: '', forged: false });
  const failed: unknown = await training.catch((error: unknown) => error);
  expect(failed).toMatchObject({ message: expect.stringContaining('over a training sample') as string });
  // That would be to try it again for ever.
  expect(failed).not.toBeInstanceOf(FilterUnavailable);
  await expect(message).resolves.toEqual(VALUE);
});

test('asks nobody after its end', async () => {
  await start().filter(from('anna'));
  await client[Symbol.asyncDispose]();
  await expect(client.filter(from('anna'))).rejects.toBeInstanceOf(FilterUnavailable);
});
