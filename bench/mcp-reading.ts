import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { callServer } from '../src/operator-socket/client.ts';
import { fillContacts, fillDirectory } from './lib/big-account.ts';
import { at, JmapWire as Wire, timed } from './lib/jmap-load.ts';
import { startMailstead } from './lib/mailstead.ts';
import { cpuMs } from './lib/process.ts';
import { mcpRows } from './lib/reading-rows.ts';

/**
 * Latency of an agent's MCP calls in a mailbox of 200,000 indexed messages, one call after the other.
 * `npm run bench:mcp-reading [messages] [calls]`.
 */
const MESSAGES = Number(process.argv[2] ?? 200_000);
const CALLS = Number(process.argv[3] ?? 300);

const empty = await startMailstead(1);
const { dataDir } = empty;
try {
  process.kill(empty.roots[0] ?? 0, 'SIGTERM');
  await sleep(3_000);
  const { account } = await fillDirectory(dataDir, MESSAGES);
  fillContacts(dataDir, account);
  const box = await startMailstead(1, {}, undefined, dataDir);
  try {
    const made = await callServer(dataDir, 'create_agent_token', { name: 'bench', actions: ['read', 'manage'] });
    if (made.kind !== 'done') throw new Error(made.message);
    const { secret } = made.result as { secret: string };
    await measure(await Wire.open(box.ports['http'] ?? 0, `Bearer ${secret}`, '/mcp'), () => cpuMs(box.roots));
  } finally {
    await box.stop();
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}

async function measure(wire: Wire, cpu: () => number): Promise<void> {
  const from = performance.now();
  const rows = await mcpRows(wire);
  console.log(`full text of ${MESSAGES} messages: ${((performance.now() - from) / 1000).toFixed(0)} s`);
  for (const { name, ask } of rows) {
    await timed(20, ask);
    const before = cpu();
    const took = await timed(CALLS, ask);
    const each = (cpu() - before) / CALLS;
    console.log(
      `${name.padEnd(24)} p50 ${at(took, 0.5).toFixed(2)} ms, p99 ${at(took, 0.99).toFixed(2)} ms, CPU ${each.toFixed(2)} ms each`,
    );
  }
  wire.close();
}
