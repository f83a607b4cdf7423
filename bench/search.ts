import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountId, jmapId } from '../mail/jmap/core/ids.ts';
import { MAIL } from '../mail/jmap/core/capabilities.ts';
import type { JmapSession } from '../mail/jmap/core/method.ts';
import { runRequest } from '../mail/jmap/core/request-runner.ts';
import { quiet } from '../mail/log.ts';
import { MailStore } from '../mail/store/store.ts';
import { testJmapContext } from '../test/support/jmap-fixture.ts';
import { bigAccount, wordOf } from './lib/big-account.ts';

// Email/query and full text over one large account, on the store's real threads; no HTTP.
const messages = Number(process.argv[2] ?? 200_000);
const dataDir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'mailstead-search-'));

const store = await MailStore.open({
  dataDir,
  engine: new URL('../src/start/store-thread.ts', import.meta.url),
  keepFree: 0,
  clock: Date.now,
  log: quiet,
  meter: quiet,
  fatal: (error) => {
    throw error;
  },
});

try {
  let began = performance.now();
  const big = await bigAccount(store, { messages, progress: (done) => console.error(`${done} messages`) });
  report('fill', `${rate(began)}/s`);

  const login = testJmapContext(store, Date.now);
  const id = accountId(big.account);
  const access = { account: big.account, address: 'big@big.test', readOnly: false, mayTransmit: true };
  const session: JmapSession = { username: 'big', accounts: new Map([[id, access]]), credential: 'bench' };
  const call = async (args: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const methodCalls = [['Email/query', { accountId: id, ...args }, 'c']] as const;
    const request = { using: new Set([MAIL]), methodCalls, createdIds: undefined };
    const { methodResponses } = await runRequest(login, session, request);
    return methodResponses[0]?.[1] ?? {};
  };

  began = performance.now();
  for (;;) {
    const answer = await call({ filter: { text: 'nothing' } });
    if (answer['type'] === undefined) break;
  }
  const indexed = performance.now() - began;
  const { size } = statSync(join(dataDir, 'mailstead-text.db'));
  report('index', `at most ${Math.round(indexed / 1000)} s more, ${Math.round(size / messages)} octets a message`);

  const inMailbox = jmapId('mailbox', big.inbox);
  const page = { limit: 50 };
  for (const [name, args] of Object.entries({
    'inbox, top 50': { filter: { inMailbox }, ...page },
    'inbox, top 50, threads': { filter: { inMailbox }, collapseThreads: true, ...page },
    'all, top 50, threads': { collapseThreads: true, ...page },
    'inbox, total': { filter: { inMailbox }, calculateTotal: true, ...page },
    'inbox, unread': { filter: { inMailbox, notKeyword: '$seen' }, ...page },
    'inbox, position 50,000': { filter: { inMailbox }, position: 50_000, ...page },
    'inbox by subject': { filter: { inMailbox }, sort: [{ property: 'subject' }], ...page },
    'rare word': { filter: { text: wordOf(50_000) }, ...page },
    'middling word': { filter: { text: wordOf(1000) }, ...page },
    'common word': { filter: { text: wordOf(0) }, ...page },
    'common word, inbox, threads': { filter: { inMailbox, text: wordOf(1) }, collapseThreads: true, ...page },
    'phrase of common words': { filter: { text: `"${wordOf(0)} ${wordOf(1)}"` }, ...page },
    'two common words': { filter: { text: `${wordOf(2)} ${wordOf(5)}` }, ...page },
    'common and rare word': { filter: { text: `${wordOf(0)} ${wordOf(40_000)}` }, ...page },
    CJK: { filter: { text: '部署方案' }, ...page },
    'CJK, one character': { filter: { text: '京' }, ...page },
    'beginning of a word': { filter: { text: `${wordOf(3000).slice(0, 4)}*` }, ...page },
    'a sender': { filter: { from: 'p17@remote.example' }, ...page },
    'common word, total': { filter: { text: wordOf(0) }, calculateTotal: true, ...page },
    header: { filter: { header: ['message-id', `<${messages - 10}@big.test>`] }, ...page },
  })) {
    await measure(name, () => call(args));
  }
} finally {
  await store[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
}

function rate(began: number): number {
  return Math.round((messages / (performance.now() - began)) * 1000);
}

async function measure(name: string, one: () => Promise<Record<string, unknown>>): Promise<void> {
  const times: number[] = [];
  const until = performance.now() + 2000;
  let found = 0;
  while (times.length < 5 || (times.length < 200 && performance.now() < until)) {
    const began = performance.now();
    const answer = await one();
    times.push(performance.now() - began);
    if (answer['type'] !== undefined) {
      report(name, JSON.stringify(answer));
      return;
    }
    found = (answer['ids'] as string[]).length;
  }
  times.sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(2);
  report(name, `${found} found, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`);
}

function report(name: string, text: string): void {
  console.log(`${name.padEnd(32)} ${text}`);
}
