import { setTimeout as sleep } from 'node:timers/promises';
import { callServer } from '../src/operator-socket/client.ts';
import { startMailstead } from './lib/mailstead.ts';
import { cpuMs, memoryKib } from './lib/process.ts';
import { openWait, type OpenWait, type Way } from './lib/wait-load.ts';
import { Wire } from './lib/wire.ts';

/**
 * Cost of pending waits for mail: memory of 1,000 waits over 10 mailboxes, CPU while nothing
 * happens, and the delay after the 250 until 100 waits on one mailbox are answered. `npm run bench:waits`.
 */
const WAITS = 1000;
const FIRST = 100;
const MAILBOXES = 10;
const IDLE_SECONDS = 10;

for (const way of ['rest', 'mcp', 'stream', 'modern', 'events'] as const) await measure(way);

async function measure(way: Way): Promise<void> {
  // Each figure in a process of its own: memory that an earlier load left free would hide what waits take.
  const box = await startMailstead(MAILBOXES);
  try {
    const port = box.ports['http'] ?? 0;
    const tokens: string[] = [];
    for (let i = 0; i < MAILBOXES; i++) tokens.push(await tokenOf(box.dataDir, `waits ${i}`));
    const open: OpenWait[] = [];
    const more = async (upTo: number): Promise<void> => {
      while (open.length < upTo) {
        const i = open.length;
        open.push(openWait(port, tokens[i % MAILBOXES] ?? '', `${box.users[i % MAILBOXES]}@${box.domain}`, way));
        if (i % 25 === 24) await sleep(50);
      }
      await untilOpen(port, upTo);
    };
    await more(FIRST);
    await sleep(3000);
    const before = memoryKib(box.roots).rss;
    await more(WAITS);
    await sleep(3000);
    const after = memoryKib(box.roots).rss;
    const cpu = cpuMs(box.roots);
    await sleep(IDLE_SECONDS * 1000);
    const idle = (cpuMs(box.roots) - cpu) / (IDLE_SECONDS * 10);
    const each = ((after - before) * 1.024) / (WAITS - FIRST);
    const told = await tellOne(
      box,
      open.filter((_, i) => i % MAILBOXES === 0),
    );
    console.log(
      `${way}: ${each.toFixed(1)} kB each (RSS ${before} -> ${after} KiB, waits ${FIRST} -> ${WAITS}), ${idle.toFixed(1)} % CPU while nothing comes; 100 told within ${told.first.toFixed(0)} to ${told.last.toFixed(0)} ms after the 250`,
    );
    for (const one of open) one.end();
  } finally {
    await box.stop();
  }
}

async function tokenOf(dataDir: string, name: string): Promise<string> {
  const answer = await callServer(dataDir, 'create_agent_token', { name, actions: ['mail_read'] });
  if (answer.kind !== 'done') throw new Error(answer.message);
  return (answer.result as { secret: string }).secret;
}

async function untilOpen(port: number, count: number): Promise<void> {
  for (;;) {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    if (text.includes(`waits_open ${count}\n`)) return;
    await sleep(100);
  }
}

/** One message for the first mailbox; how long those who wait for it are without it. */
async function tellOne(
  { smtpPort, users, domain }: { smtpPort: number; users: readonly string[]; domain: string },
  waits: readonly OpenWait[],
): Promise<{ first: number; last: number }> {
  const wire = await Wire.open(smtpPort);
  await wire.smtp(undefined, '220');
  await wire.smtp('EHLO bench.test\r\n', '250');
  await wire.smtp('MAIL FROM:<bench@far.example>\r\n', '250');
  await wire.smtp(`RCPT TO:<${users[0]}@${domain}>\r\n`, '250');
  await wire.smtp('DATA\r\n', '354');
  await wire.smtp('From: bench@far.example\r\nSubject: told\r\n\r\ntold\r\n.\r\n', '250');
  const accepted = performance.now();
  wire.close();
  const times = (await Promise.all(waits.map(({ answered }) => answered))).map((at) => at - accepted);
  return { first: Math.min(...times), last: Math.max(...times) };
}
