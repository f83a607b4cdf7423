import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { callServer } from '../src/operator-socket/client.ts';
import { type BigAccount as Big, fillDirectory } from './lib/big-account.ts';
import { at, JmapWire, timed } from './lib/jmap-load.ts';
import { poll, pollers } from './lib/jmap-polling.ts';
import { JmapStream } from './lib/jmap-streams.ts';
import { tokensOf } from './lib/jmap-tokens.ts';
import { startMailstead } from './lib/mailstead.ts';
import { message } from './lib/messages.ts';
import { memoryKib } from './lib/process.ts';
import { jmapRows } from './lib/reading-rows.ts';
import { Wire } from './lib/wire.ts';

/**
 * JMAP over HTTP: requests of clients to an account of 200,000 indexed messages, 200 clients that
 * poll, and 1,000 with open event streams. `npm run bench:jmap [messages] [seconds]`.
 */
const MESSAGES = Number(process.argv[2] ?? 200_000);
const SECONDS = Number(process.argv[3] ?? 10);
const ACCOUNTS = 50;
const CLIENTS = 200;
const STREAMS = 1_000;
const FIRST = 100;

const filled = await startMailstead(ACCOUNTS);
const { dataDir } = filled;
try {
  process.kill(filled.roots[0] ?? 0, 'SIGTERM');
  await sleep(3_000);
  const big = await fillDirectory(dataDir, MESSAGES);
  for (const part of [answers, polling, streams]) {
    // Each in a process of its own: memory that an earlier load left free would hide what the next one takes.
    const box = await startMailstead(ACCOUNTS, {}, undefined, dataDir);
    try {
      await part(box, big);
    } finally {
      await box.stop();
    }
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}

type Subject = Awaited<ReturnType<typeof startMailstead>>;

/** Latency of one client, one request after the other. */
async function answers(box: Subject, big: Big): Promise<void> {
  const made = await callServer(dataDir, 'create_agent_token', { name: 'bench', actions: ['read', 'manage', 'send'] });
  if (made.kind !== 'done') throw new Error(made.message);
  const wire = await JmapWire.open(box.ports['http'] ?? 0, `Bearer ${(made.result as { secret: string }).secret}`);
  const from = performance.now();
  const rows = await jmapRows(wire, big);
  console.log(`full text of ${MESSAGES} messages: ${((performance.now() - from) / 1000).toFixed(0)} s`);
  for (const { name, ask } of rows) {
    await timed(20, ask);
    const took = await timed(500, ask);
    console.log(`${name.padEnd(24)} p50 ${at(took, 0.5).toFixed(2)} ms, p99 ${at(took, 0.99).toFixed(2)} ms`);
  }
  wire.close();
}

/** Clients that ask on and on whether anything changed, four of each account. */
async function polling(box: Subject): Promise<void> {
  const accounts = (await tokensOf(box)).map(({ id, token }) => ({ id, authorization: `Bearer ${token}` }));
  const clients = await pollers(CLIENTS, box.ports['http'] ?? 0, '/jmap/api', accounts);
  await poll(clients, 3, box.roots);
  const { perSecond, p50, p99, cpu } = await poll(clients, SECONDS, box.roots);
  console.log(
    `${CLIENTS} clients, ${ACCOUNTS} accounts   ${perSecond.toFixed(0)} requests a second, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, CPU ${cpu.toFixed(2)} ms each`,
  );
  for (const { wire } of clients) wire.close();
}

/** Clients with open event streams: their cost, and the time until a delivery reaches all of an account. */
async function streams(box: Subject): Promise<void> {
  const all = await tokensOf(box);
  const open: JmapStream[] = [];
  const more = async (upTo: number): Promise<void> => {
    while (open.length < upTo) {
      const some = Array.from({ length: 50 }, (_, k) => all[(open.length + k) % ACCOUNTS]?.token ?? '');
      open.push(...(await Promise.all(some.map((token) => JmapStream.open(box.ports['http'] ?? 0, token)))));
    }
  };
  await more(FIRST);
  await sleep(5_000);
  const before = memoryKib(box.roots).rss;
  await more(STREAMS);
  await sleep(15_000);
  const after = memoryKib(box.roots).rss;
  const each = ((after - before) * 1.024) / (STREAMS - FIRST);
  console.log(`event source             ${each.toFixed(1)} kB each (RSS ${before} -> ${after} KiB)`);
  const late = await fanOut(box, open);
  console.log(`told after the 250       p50 ${at(late, 0.5).toFixed(1)} ms, p95 ${at(late, 0.95).toFixed(1)} ms`);
  for (const stream of open) stream.close();
}

/** Delivers to each account in turn; delays between the 250 and the event of each stream, in order. */
async function fanOut(box: Subject, open: readonly JmapStream[]): Promise<number[]> {
  const smtp = await Wire.open(box.smtpPort);
  await smtp.smtp(undefined, '2');
  await smtp.smtp('EHLO bench.test\r\n', '2');
  const late: number[] = [];
  for (const [i, user] of box.users.entries()) {
    const told = Promise.all(open.filter((_, k) => k % ACCOUNTS === i).map((stream) => stream.told()));
    await smtp.smtp('MAIL FROM:<bench@sender.test>\r\n', '2');
    await smtp.smtp(`RCPT TO:<${user}@${box.domain}>\r\n`, '2');
    await smtp.smtp('DATA\r\n', '3');
    await smtp.smtp(Buffer.concat([message(i, 4096, 'push'), Buffer.from('.\r\n')]), '2');
    const accepted = performance.now();
    for (const when of await told) late.push(when - accepted);
  }
  smtp.close();
  return late.toSorted((a, b) => a - b);
}
