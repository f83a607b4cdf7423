import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { PersonAtWork } from './person.ts';
import { jmapRequest } from './hostile-tenant.ts';
import { MailboxReader } from './mailbox-reader.ts';
import { Wire } from './wire.ts';

const { pid, ports, mailbox, token, every } = workerData as PersonAtWork;
const agent = new Agent({ keepAlive: true });

/** Time that threads were ready and the processor did other work, in ms: this one, and the listeners' of the box. */
function runQueueMs(): number {
  const waited = (path: string): number => Number(readFileSync(path, 'latin1').split(' ')[1]) / 1e6;
  return waited('/proc/thread-self/schedstat') + waited(`/proc/${pid}/task/${pid}/schedstat`);
}

function post(path: string, authorization: string, body: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const queried = request({ host: '127.0.0.1', port: ports.http, path, method: 'POST', headers, agent }, (answer) => {
    let text = '';
    answer.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    answer.on('end', () => (answer.statusCode === 200 ? resolve(text) : reject(new Error(`${path}: ${text}`))));
  });
  queried.on('error', reject);
  queried.end(body);
  return promise;
}

const imap = await MailboxReader.open(ports.imap, mailbox.address, mailbox.password);
await imap.command('SELECT INBOX');

const expecting = async (answer: Promise<string | Buffer | undefined>, pattern: RegExp): Promise<void> => {
  const text = String(await answer);
  if (!pattern.test(text)) throw new Error(`unexpected answer: ${text.slice(0, 500)}`);
};
const calls = [
  ['Mailbox/get', { accountId: mailbox.account, ids: null }, 'a'],
  ['Email/query', { accountId: mailbox.account, limit: 10 }, 'b'],
];
const listing = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_emails', arguments: {} } };

/** One piece of work over each protocol. */
const WORK: Record<string, () => Promise<void>> = {
  imap: () => expecting(imap.command('FETCH * (FLAGS ENVELOPE)'), / OK /),
  imapSearch: () => expecting(imap.command('UID SEARCH BODY hello'), / OK /),
  // A connection of its own each time: the server ends one with many transactions that carry no message.
  smtp: async () => {
    using smtp = await Wire.open(ports.smtp);
    await smtp.reply();
    await smtp.command('EHLO person.test');
    await expecting(smtp.command('MAIL FROM:<x@person.test>'), /^250/);
    await expecting(smtp.command(`RCPT TO:<${mailbox.address}>`), /^250/);
    await expecting(smtp.command('QUIT'), /^221/);
  },
  jmap: () => expecting(post('/jmap/api', `Bearer ${mailbox.jmap}`, jmapRequest(calls)), /"Email\/query"/),
  mcp: () => expecting(post('/mcp', `Bearer ${token}`, JSON.stringify(listing)), /"result"/),
  rest: () => expecting(post('/api/tools/whoami', `Bearer ${token}`, '{}'), /organization/),
};

const over = new AbortController();
parentPort?.once('message', () => over.abort());

/** Waits by protocol, in ms, without the time that the machine gave to other processes. */
const waits: Record<string, number[]> = Object.fromEntries(Object.keys(WORK).map((name) => [name, []]));
const failed: string[] = [];

async function watch(): Promise<void> {
  for (const [name, work] of Object.entries(WORK)) {
    const [began, queued] = [performance.now(), runQueueMs()];
    try {
      await work();
    } catch (error) {
      failed.push(`${name}: ${(error as Error).message}`);
    }
    const took = performance.now() - began - (runQueueMs() - queued);
    waits[name]?.push(Math.max(0, took));
  }
}

await watch();
for (const all of Object.values(waits)) all.length = 0;
parentPort?.postMessage('ready');
while (!over.signal.aborted) {
  await watch();
  await delay(every);
}
imap[Symbol.dispose]();
agent.destroy();
parentPort?.postMessage({ waits, failed });
