import { afterEach, expect, test } from 'vitest';
import { JudgeClient, type JudgeClientOptions } from '../../../mail/judge/client.ts';
import { type Arriving, JudgeAway } from '../../../mail/judge/judging.ts';
import { quiet } from '../../../mail/log.ts';

/** A thread that answers its settings, unless the sender says what it is to do instead. */
const THREAD = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, workerData } from 'node:worker_threads';
    const held = [];
    parentPort.on('message', ({ kind, id, mail, source }) => {
      if (kind === 'close') parentPort.close();
      else if (kind === 'words') {
        const there = source.octets === 'free' ? held.splice(0) : [];
        parentPort.postMessage({ kind: 'answer', id, value: there.length > 0 ? there : [...held] });
        for (const one of there) parentPort.postMessage({ kind: 'answer', id: one, value: workerData });
      }
      else if (mail.sender === 'die') process.exit(1);
      else if (mail.sender === 'throw') throw new Error('a defect');
      else if (mail.sender === 'fill') { const all = []; for (;;) all.push(new Array(1e5).fill(id)); }
      else if (mail.sender === 'loop') for (;;);
      else if (mail.sender === 'slow') setInterval(() => parentPort.postMessage({ kind: 'works' }), 20);
      else if (mail.sender === 'hold') held.push(id);
      else if (mail.sender === 'fail') parentPort.postMessage({ kind: 'failed', id, message: 'not now', stack: 'there' });
      else parentPort.postMessage({ kind: 'answer', id, value: workerData });
    });`)}`,
);
const VALUE = { findings: [] };
let client: JudgeClient;
afterEach(() => client[Symbol.asyncDispose]());

function start(more: Partial<JudgeClientOptions> = {}): JudgeClient {
  return (client = new JudgeClient({ thread: THREAD, settings: VALUE, log: quiet, meter: quiet, ...more }));
}

function from(sender: string, size = 100, ip = '192.0.2.1'): Arriving {
  return {
    trace: 't',
    recipients: [],
    octets: new Uint8Array(),
    size,
    headerLength: 0,
    parts: '',
    peer: { ip, helo: 'x' },
    sender,
    accounts: [],
    checks: true,
    now: 0,
  };
}

test('asks its thread, which starts with the first message', async () => {
  await expect(start().judge(from('anna'))).resolves.toEqual(VALUE);
});

test('a message that fails there fails here, and the next one does not', async () => {
  start();
  await expect(client.judge(from('fail'))).rejects.toThrow('not now');
  await expect(client.judge(from('anna'))).resolves.toEqual(VALUE);
});

test('a message that takes long fails alone, and its thread goes on', async () => {
  start({ patienceMs: 200, silenceMs: 5_000 });
  await client.judge(from('anna'));
  await expect(client.judge(from('slow'))).rejects.toThrow('did not answer in time');
  await expect(client.judge(from('anna'))).resolves.toEqual(VALUE);
});

test('a thread in a loop is ended, and another one starts', async () => {
  start({ patienceMs: 20_000, silenceMs: 300 });
  await expect(client.judge(from('loop'))).rejects.toThrow('ended');
  await expect.poll(() => client.judge(from('anna')).catch(() => 'away'), { timeout: 10_000 }).toEqual(VALUE);
});

test('only so many octets are there at once; large messages wait for each other and for nobody else', async () => {
  start();
  const there = (octets: string): Promise<number[]> =>
    client.words({ octets, headerLength: 0, parts: '', forged: false });
  const large = Array.from({ length: 10 }, () => client.judge(from('hold', 25_000_000)));
  const small = Array.from({ length: 100 }, () => client.judge(from('hold', 1_000_000)));
  await expect.poll(() => there('')).toHaveLength(8 + 50);
  let done = 0;
  for (const one of [...large, ...small]) void one.then(() => (done += 1));
  await expect.poll(async () => (await there('free'), done)).toBe(110);
});

test('who was there each time when the judge failed is sent away, and nobody else', async () => {
  start();
  const away = (ip: string): Promise<unknown> =>
    client.judge(from('anna', 1, ip)).catch((error: Error) => error.message);
  for (let times = 0; times < 3; times++) {
    await expect(client.judge(from('die', 1, '9.1.2.7'))).rejects.toThrow('ended');
    await expect.poll(() => away('9.9.9.9'), { timeout: 10_000 }).toEqual(VALUE);
  }
  expect(await away('9.1.2.9')).toContain('again and again');
  expect(await away('9.9.9.9')).toEqual(VALUE);
});

test.each(['die', 'throw', 'fill'])(
  'a thread that ends by "%s" takes what it had with it, and another one starts',
  async (way) => {
    start();
    const lost = Promise.allSettled([client.judge(from(way)), client.judge(from('anna'))]);
    expect((await lost)[0]).toMatchObject({ status: 'rejected' });
    await expect(client.judge(from('anna'))).rejects.toBeInstanceOf(JudgeAway);
    await expect.poll(() => client.judge(from('anna')).catch(() => 'away'), { timeout: 10_000 }).toEqual(VALUE);
  },
);

test('asks nobody after its end', async () => {
  await start().judge(from('anna'));
  await client[Symbol.asyncDispose]();
  await expect(client.judge(from('anna'))).rejects.toBeInstanceOf(JudgeAway);
});
