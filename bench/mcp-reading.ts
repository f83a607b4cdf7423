import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { callServer } from '../src/operator-socket/client.ts';
import { fillContacts, fillDirectory, wordOf } from './lib/big-account.ts';
import { at, JmapWire as Wire, timed } from './lib/jmap-load.ts';
import { startMailstead } from './lib/mailstead.ts';
import { cpuMs } from './lib/process.ts';

/**
 * Latency of an agent's MCP calls in a mailbox of 200,000 indexed messages, one call after the other.
 * `npm run bench:mcp-reading [messages] [calls]`.
 */
const MESSAGES = Number(process.argv[2] ?? 200_000);
const CALLS = Number(process.argv[3] ?? 300);
const MAILBOX = 'big@big.test';

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
  await indexed(wire);
  const search = (query: string) => ['search_messages', { query }] as const;
  const [message] = (await call(wire, 'list_messages', {}))['messages'] as { id: string; threadId: string }[];
  for (const [what, [name, args]] of [
    ['list_messages', ['list_messages', {}]],
    ['list_messages, unread', ['list_messages', { unreadOnly: true }]],
    ['list_messages of 50', ['list_messages', { limit: 50 }]],
    ['search, rare word', search(wordOf(50_000))],
    ['search, middling word', search(wordOf(1_000))],
    ['search, common word', search(wordOf(0))],
    ['search, from and word', search(`from:p17@remote.example ${wordOf(100)}`)],
    ['get_message', ['get_message', { messageId: message?.id }]],
    ['get_thread', ['get_thread', { threadId: message?.threadId }]],
    ['list_labels', ['list_labels', {}]],
    ['list_contacts', ['list_contacts', {}]],
    ['list_contacts of 50', ['list_contacts', { limit: 50 }]],
    ['list_quarantine', ['list_quarantine', {}]],
  ] as const) {
    const ask = (): Promise<unknown> => call(wire, name, args);
    await timed(20, ask);
    const before = cpu();
    const took = await timed(CALLS, ask);
    const each = (cpu() - before) / CALLS;
    console.log(
      `${what.padEnd(24)} p50 ${at(took, 0.5).toFixed(2)} ms, p99 ${at(took, 0.99).toFixed(2)} ms, CPU ${each.toFixed(2)} ms each`,
    );
  }
  wire.close();
}

/** Waits until every message is in the full text. */
async function indexed(wire: Wire): Promise<void> {
  const from = performance.now();
  while (!(await isIndexed(wire))) await sleep(1_000);
  console.log(`full text of ${MESSAGES} messages: ${((performance.now() - from) / 1000).toFixed(0)} s`);
}

async function isIndexed(wire: Wire): Promise<boolean> {
  const said = await call(wire, 'search_messages', { query: 'nothing' });
  if (said['error'] === 'unavailable') return false;
  if (said['error'] === undefined) return true;
  throw new Error(JSON.stringify(said));
}

async function call(wire: Wire, name: string, args: object): Promise<Record<string, unknown>> {
  const params = { name, arguments: { mailbox: MAILBOX, ...args } };
  const text = String(await wire.ask(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })));
  const { result } = JSON.parse(text) as { result?: { structuredContent?: Record<string, unknown> } };
  if (result?.structuredContent === undefined) throw new Error(text.slice(0, 300));
  return result.structuredContent;
}
