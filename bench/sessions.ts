import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect as connectTls } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, deflateRawSync } from 'node:zlib';
import { ingest } from './lib/ingest-load.ts';
import { startMailstead, type Subject } from './lib/mailstead.ts';
import { message } from './lib/messages.ts';
import { memoryKib } from './lib/process.ts';
import { Wire } from './lib/wire.ts';

/**
 * Cost of idle clients: memory of 2,000 idle IMAP sessions over 10 mailboxes of 10,000 messages, plain, with TLS and with
 * COMPRESS, and the delay of IDLE after the 250 of a new message. `npm run bench:sessions [messages a mailbox]
 * [sessions]`.
 */
const MESSAGES = Number(process.argv[2] ?? 10_000);
const SESSIONS = Number(process.argv[3] ?? 2000);
const FIRST = 100;

const server = new URL('./lib/raised-server.ts', import.meta.url);
const filler = await startMailstead(10);
let box = filler;
try {
  process.stderr.write(`filling 10 mailboxes with ${MESSAGES} messages each\n`);
  const load = { connections: 50, octets: 600, oneEach: false, lmtp: false };
  await ingest(filler, { ...load, messages: 10 * MESSAGES });
  process.kill(filler.roots[0] ?? 0, 'SIGTERM');
  await sleep(3000);
  // Each figure in a process of its own: memory that an earlier load left free would hide what sessions take.
  for (const kind of ['plain', 'TLS', 'COMPRESS'] as const) {
    box = await startMailstead(10, {}, server, filler.dataDir);
    await idleSessions(kind);
    if (kind === 'TLS') await idleLatency();
    await box.stop();
  }
} finally {
  rmSync(filler.dataDir, { recursive: true, force: true });
}

type Kind = 'plain' | 'TLS' | 'COMPRESS';

async function idleSessions(kind: Kind): Promise<void> {
  const open: Wire[] = [];
  for (let i = 0; i < FIRST; i++) open.push(await waiting(box, i, kind));
  await sleep(5000);
  const before = memoryKib(box.roots).rss;
  for (let i = FIRST; i < SESSIONS; i += 50) {
    const some = Array.from({ length: 50 }, (_, k) => waiting(box, i + k, kind));
    open.push(...(await Promise.all(some)));
  }
  await sleep(15_000);
  const after = memoryKib(box.roots).rss;
  const each = ((after - before) * 1.024) / (SESSIONS - FIRST);
  console.log(
    `idle session, ${kind}: ${each.toFixed(1)} kB each (RSS ${before} -> ${after} KiB, sessions ${FIRST} -> ${SESSIONS})`,
  );
  for (const wire of open) wire.close();
  await sleep(3000);
}

/** A session that selected its INBOX and idles. */
async function waiting(subject: Subject, n: number, kind: Kind): Promise<Wire> {
  const ports = (subject as Subject & { ports: Record<string, number> }).ports;
  const wire = kind === 'TLS' ? await openTls(ports.imaps ?? 0) : await Wire.open(ports.imap ?? 0);
  await wire.line();
  const user = subject.users[n % subject.users.length];
  await wire.imap(`LOGIN ${user}@${subject.domain} ${subject.password}`);
  await wire.imap('SELECT INBOX');
  if (kind === 'COMPRESS') await idleCompressed(wire);
  else {
    wire.send('a IDLE\r\n');
    await wire.line();
  }
  return wire;
}

/** The answer stays compressed: it is not read here. RFC 4978. */
async function idleCompressed(wire: Wire): Promise<void> {
  await wire.imap('COMPRESS DEFLATE');
  const answer = once(wire.socket, 'data');
  wire.send(deflateRawSync('a IDLE\r\n', { finishFlush: constants.Z_SYNC_FLUSH }));
  await answer;
}

function openTls(port: number): Promise<Wire> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => resolve(Wire.over(socket)));
    socket.once('error', reject);
  });
}

async function idleLatency(): Promise<void> {
  const idle = await waiting(box, 0, 'plain');
  const smtp = await Wire.open(box.smtpPort);
  await smtp.smtp(undefined, '2');
  await smtp.smtp('EHLO bench.test\r\n', '2');
  const late: number[] = [];
  for (let i = 0; i < 200; i++) {
    const told = idle.line().then(() => performance.now());
    await smtp.smtp('MAIL FROM:<bench@sender.test>\r\n', '2');
    await smtp.smtp(`RCPT TO:<${box.users[0]}@${box.domain}>\r\n`, '2');
    await smtp.smtp('DATA\r\n', '3');
    await smtp.smtp(Buffer.concat([message(i, 4096, 'idle'), Buffer.from('.\r\n')]), '2');
    const accepted = performance.now();
    late.push((await told) - accepted);
    await sleep(10);
  }
  late.sort((a, b) => a - b);
  console.log(`IDLE told after the 250: p50 ${late[100]?.toFixed(2)} ms, p99 ${late[197]?.toFixed(2)} ms`);
  smtp.close();
  idle.close();
}
