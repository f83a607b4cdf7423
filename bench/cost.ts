import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { callServer } from '../src/operator-socket/client.ts';
import { type Cost, CostMeter, costOf } from './lib/cost-meter.ts';
import { ingest } from './lib/ingest-load.ts';
import { JmapWire } from './lib/jmap-load.ts';
import { pollers } from './lib/jmap-polling.ts';
import { tokensOf } from './lib/jmap-tokens.ts';
import { startMailstead } from './lib/mailstead.ts';
import { Wire } from './lib/wire.ts';

/**
 * Costs of one message of 4 KiB and of single client actions: statements, commits, pages written to the logs, messages
 * between threads, octets written, CPU by thread. `npm run bench:cost [messages] [off|on|both]`; `off` and `on` are the
 * spam checks. BENCH_DIR says which disk to use: a disk in memory counts no octets.
 */
const MESSAGES = Math.max(500, Number(process.argv[2] ?? 1_000));
const CHECKS = process.argv[3] ?? 'both';
const CONNECTIONS = [1, 10, 50];
const ACTIONS = 100;
const OCTETS = 4096;

for (const checks of ['off', 'on']) if (CHECKS === 'both' || CHECKS === checks) await report(checks);

async function report(checks: string): Promise<void> {
  const file = join(tmpdir(), `mailstead-cost-${process.pid}.json`);
  const probe = fileURLToPath(new URL('lib/cost-probe.ts', import.meta.url));
  const env = { MAILSTEAD_SPAM_CHECKS: checks, NODE_OPTIONS: `--import=${probe}`, COST_FILE: file };
  const box = await startMailstead(10, env);
  const meter = new CostMeter(box.roots[0] ?? 0, file);
  try {
    console.log(`\nChecks ${checks}. Each figure is for one message or action.\n`);
    console.log('| | statements | commits | pages | posts | KiB written | CPU ms | by thread |');
    console.log('|---|---|---|---|---|---|---|---|');
    // Warms up: V8 optimizes code only after some thousand messages.
    await ingest(box, { connections: 10, messages: 2 * MESSAGES, octets: OCTETS, oneEach: false, lmtp: false });
    for (const connections of CONNECTIONS) await messageCost(box, meter, connections);
    if (checks === 'off') await actionCosts(box, meter);
  } finally {
    await box.stop();
    rmSync(file, { force: true });
  }
}

async function messageCost(box: Box, meter: CostMeter, connections: number): Promise<void> {
  const before = await meter.atRest();
  await ingest(box, { connections, messages: MESSAGES, octets: OCTETS, oneEach: false, lmtp: false });
  line(`message at ${connections}, until visible`, costOf(before, await meter.read(), MESSAGES));
  line(`message at ${connections}, at rest`, costOf(before, await meter.atRest(), MESSAGES));
}

type Action = (n: number) => Promise<unknown>;
type Box = Awaited<ReturnType<typeof startMailstead>>;

async function actionCosts(box: Box, meter: CostMeter): Promise<void> {
  const wire = await Wire.open(box.imapPort);
  await wire.line();
  await wire.imap(`LOGIN user1@box.test ${box.password}`);
  await wire.imap('SELECT INBOX');
  // Each connects when its turn comes: the server closes an HTTP connection that was idle for a minute.
  const actions: [string, () => Action | Promise<Action>][] = [
    ['IMAP flag', () => (n) => wire.imap(`STORE ${n + 1} +FLAGS (\\Flagged)`)],
    ['IMAP move', () => () => wire.imap('MOVE 1 Archive')],
    ['IMAP search TEXT', () => (n) => wire.imap(`SEARCH TEXT "word${n}"`)],
    ['JMAP poll', () => jmapPoll(box)],
    ['MCP send', () => mcpSend(box)],
  ];
  for (const [name, open] of actions) {
    const act = await open();
    const before = await meter.atRest();
    for (let n = 0; n < ACTIONS; n++) await act(n);
    line(name, costOf(before, await meter.read(), ACTIONS));
  }
  wire.close();
}

async function jmapPoll(box: Box): Promise<Action> {
  const accounts = (await tokensOf(box)).map(({ id, token }) => ({ id, authorization: `Bearer ${token}` }));
  const [client] = await pollers(1, box.ports['http'] ?? 0, '/jmap/api', accounts);
  return async () => client?.wire.ask(client.text);
}

async function mcpSend(box: Box): Promise<Action> {
  const made = await callServer(box.dataDir, 'create_agent_token', { name: 'bench', actions: ['read', 'send'] });
  if (made.kind !== 'done') throw new Error(made.message);
  const { secret } = made.result as { secret: string };
  const wire = await JmapWire.open(box.ports['http'] ?? 0, `Bearer ${secret}`, '/mcp');
  return async (n) => {
    const to = [`${box.users[1]}@${box.domain}`];
    const args = {
      from: `${box.users[0]}@${box.domain}`,
      to,
      subject: `Bench ${n}`,
      text: `A short text, number ${n}.`,
    };
    const params = { name: 'send_email', arguments: args };
    const reply = String(await wire.ask(JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params })));
    if (reply.includes('"isError":true')) throw new Error(reply);
  };
}

function line(name: string, { statements, commits, pages, posts, written, cpu }: Cost): void {
  const counts = [statements, commits, pages, posts, written / 1024].map((value) => value.toFixed(1));
  const threads = Object.entries(cpu).map(([thread, ms]) => `${thread} ${ms.toFixed(2)}`);
  const all = Object.values(cpu).reduce((sum, ms) => sum + ms, 0);
  console.log(`| ${[name, ...counts, all.toFixed(2), threads.join(', ')].join(' | ')} |`);
}
