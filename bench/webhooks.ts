import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import { callServer } from '../src/operator-socket/client.ts';
import { freePort } from '../test/support/free-port.ts';
import { ingest } from './lib/ingest-load.ts';
import { startMailstead } from './lib/mailstead.ts';
import { cpuMs, memoryKib } from './lib/process.ts';

/**
 * Webhooks: a backlog over 50 mailboxes is posted to one local host, 10 connections at most; then
 * mail arrives a few times a second and is posted at once. The receiver runs in this process. `npm run bench:webhooks`.
 */
const MAILBOXES = 50;
const BACKLOG = Number(process.argv[2] ?? 5000);
const LIVE = 200;
const LIVE_EVERY_MS = 25;
const OCTETS = 4096;

/** Deliveries that came, by their id; the load has Message-IDs several times. */
const came = new Set<string>();
/** Times of the first posts, by Message-ID. */
const told = new Map<string, number>();
let repeats = 0;
let connections = 0;
let most = 0;

const port = await freePort();
const box = await startMailstead(MAILBOXES);
try {
  const address = (n: number): string => `${box.users[n % MAILBOXES]}@${box.domain}`;
  for (let i = 0; i < MAILBOXES; i++) {
    const url = `http://127.0.0.1:${port}/mail`;
    await ask('set_email_inbound_webhook', { address: address(i), url });
  }
  await ingest(box, { connections: 10, messages: BACKLOG, octets: OCTETS, oneEach: false, lmtp: false });
  const receiver = await listen(port);
  const cpu = cpuMs(box.roots);
  const own = process.cpuUsage();
  const began = performance.now();
  for (let i = 0; i < MAILBOXES; i++) await ask('enable_webhook', { address: address(i) });
  await until(() => came.size >= BACKLOG);
  const seconds = (performance.now() - began) / 1000;
  const mine = process.cpuUsage(own);
  console.log(
    `backlog: ${BACKLOG} of ${MAILBOXES} mailboxes told in ${seconds.toFixed(2)} s, ${(BACKLOG / seconds).toFixed(0)} a second, CPU ${((cpuMs(box.roots) - cpu) / BACKLOG).toFixed(2)} ms each (the receiver's ${((mine.user + mine.system) / 1000 / BACKLOG).toFixed(2)} ms), ${most} connections at most, ${repeats} told twice`,
  );
  await live(address);
  console.log(`memory after the load: RSS ${(memoryKib(box.roots).rss / 1024).toFixed(0)} MiB`);
  receiver.closeAllConnections();
  receiver.close();
} finally {
  await box.stop();
}

/** Mail that arrives one by one: from its 250 to the request. */
async function live(address: (n: number) => string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.smtpPort, ignoreTLS: true, pool: true });
  const taken = new Map<string, number>();
  for (let i = 0; i < LIVE; i++) {
    const from = 'live@elsewhere.example';
    const { messageId } = await transport.sendMail({
      from,
      to: address(i),
      subject: `live ${i}`,
      text: 'x'.repeat(900),
    });
    taken.set(messageId, performance.now());
    await sleep(LIVE_EVERY_MS);
  }
  transport.close();
  await until(() => [...taken.keys()].every((id) => told.has(id)));
  const waits = [...taken].map(([id, at]) => Math.max(0, (told.get(id) ?? 0) - at)).toSorted((a, b) => a - b);
  const at = (share: number): string => (waits[Math.floor(waits.length * share)] ?? 0).toFixed(0);
  console.log(
    `live: ${LIVE} messages, from 250 to the request p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms`,
  );
}

async function ask(operation: string, input: object): Promise<void> {
  const answer = await callServer(box.dataDir, operation, input);
  if (answer.kind !== 'done') throw new Error(`${operation}: ${answer.message}`);
}

function listen(on: number): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { message } = JSON.parse(Buffer.concat(chunks).toString()) as { message: { messageId: string } };
      const id = String(request.headers['webhook-id']);
      if (came.has(id)) repeats++;
      came.add(id);
      if (!told.has(message.messageId)) told.set(message.messageId, performance.now());
      response.end();
    });
  });
  server.on('connection', (socket) => {
    most = Math.max(most, ++connections);
    socket.on('close', () => connections--);
  });
  return new Promise((resolve) => server.listen(on, '127.0.0.1', () => resolve(server)));
}

async function until(done: () => boolean): Promise<void> {
  const late = performance.now() + 120_000;
  while (!done()) {
    if (performance.now() > late) throw new Error(`only ${came.size} were told`);
    await sleep(5);
  }
}
