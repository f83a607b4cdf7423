import { setTimeout as sleep } from 'node:timers/promises';
import { ingest } from './lib/ingest-load.ts';
import { startMailstead } from './lib/mailstead.ts';
import { McpLoad } from './lib/mcp-load.ts';
import { cpuMs, memoryKib } from './lib/process.ts';
import { Wire } from './lib/wire.ts';

/**
 * MCP calls: `whoami` as often as it is answered, over pooled connections, as a bare call and as the current revision
 * has it; and 200 a second offered while 50 IMAP sessions each fetch 50 envelopes a second. `npm run bench:mcp [seconds]`.
 */
const SECONDS = Math.max(2, Number(process.argv[2] ?? 10));
const CONNECTIONS = 16;
const OFFERED = 200;
const SESSIONS = 50;
const ENVELOPES = 50;
const MESSAGES = 100;

const box = await startMailstead(10);
try {
  const load = await McpLoad.open(box.ports['http'] ?? 0, CONNECTIONS);
  for (const era of ['bare', 'modern'] as const) {
    await load.flatOut(era, 2);
    const cpu = cpuMs(box.roots);
    const { perSecond, p50, p99 } = await load.flatOut(era, SECONDS);
    const each = (cpuMs(box.roots) - cpu) / (perSecond * SECONDS);
    console.log(
      `whoami alone, ${era}: ${perSecond.toFixed(0)} a second over ${CONNECTIONS} connections, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, CPU ${each.toFixed(2)} ms each`,
    );
  }
  await ingest(box, { connections: 10, octets: 2048, oneEach: false, lmtp: false, messages: 10 * MESSAGES });
  const readers = await Promise.all(Array.from({ length: SESSIONS }, (_, i) => openReader(i)));
  await Promise.all(readers.map((wire, i) => fetchOnAndOn(wire, i, performance.now() + 2000)));
  for (const era of ['bare', 'modern'] as const) {
    const until = performance.now() + SECONDS * 1000;
    const fetched = Promise.all(readers.map((wire, i) => fetchOnAndOn(wire, i, until)));
    const { perSecond, p50, p99, late } = await load.offered(era, OFFERED, SECONDS);
    const envelopes = (await fetched).reduce((sum, one) => sum + one, 0) / SECONDS;
    console.log(
      `whoami beside IMAP, ${era}: ${perSecond.toFixed(0)} a second of ${OFFERED} offered, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (of it the generator's own: ${late.toFixed(1)} ms); ${SESSIONS} sessions fetched ${envelopes.toFixed(0)} envelopes a second`,
    );
  }
  console.log(`memory after the load: RSS ${(memoryKib(box.roots).rss / 1024).toFixed(0)} MiB`);
  for (const wire of readers) wire.close();
  load.close();
} finally {
  await box.stop();
}

async function openReader(n: number): Promise<Wire> {
  const wire = await Wire.open(box.imapPort);
  await wire.line();
  await wire.imap(`LOGIN ${box.users[n % box.users.length]}@${box.domain} ${box.password}`);
  await wire.imap('SELECT INBOX');
  return wire;
}

/** Fetches its envelopes once a second, each session at a moment of its own; answers how many came. */
async function fetchOnAndOn(wire: Wire, n: number, until: number): Promise<number> {
  let fetched = 0;
  for (let at = performance.now() + (n * 1000) / SESSIONS; at < until; at += 1000) {
    await sleep(Math.max(0, at - performance.now()));
    fetched += (await wire.imap(`FETCH 1:${ENVELOPES} (UID ENVELOPE)`)).length;
  }
  return fetched;
}
