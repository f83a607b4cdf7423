import { afterEach, expect, test } from 'vitest';
import { JudgeClient } from '../../../mail/judge/client.ts';
import { type Arriving, JudgeAway } from '../../../mail/judge/judging.ts';
import { quiet } from '../../../mail/log.ts';

/** A thread that answers its settings, unless the sender says what it is to do instead. */
const THREAD = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, workerData } from 'node:worker_threads';
    parentPort.on('message', ({ kind, id, mail }) => {
      if (kind === 'close') parentPort.close();
      else if (mail.sender === 'die') process.exit(1);
      else if (mail.sender === 'throw') throw new Error('a defect');
      else if (mail.sender === 'fill') { const all = []; for (;;) all.push(new Array(1e5).fill(id)); }
      else if (mail.sender === 'fail') parentPort.postMessage({ kind: 'failed', id, message: 'not now', stack: 'there' });
      else parentPort.postMessage({ kind: 'answer', id, value: workerData });
    });`)}`,
);
const VALUE = { findings: [] };
let client: JudgeClient;
afterEach(() => client[Symbol.asyncDispose]());

function start(): JudgeClient {
  return (client = new JudgeClient({ thread: THREAD, settings: VALUE, log: quiet, meter: quiet }));
}

function from(sender: string): Arriving {
  return {
    trace: 't',
    recipients: [],
    octets: new Uint8Array(),
    headerLength: 0,
    parts: '',
    peer: { ip: '192.0.2.1', helo: 'x' },
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
