/**
 * Counts the files and functions of Mailstead that one action executes: `npm run walk`. Each row is a server that did the
 * action minus one that did all but the action, by V8's precise coverage of all threads.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const PASSWORD = 'a-password-for-one-walk';
/** Work that continues after the answer (indexing, notifications) needs this long. */
const SETTLE_MS = 1500;

interface Server {
  listeners: Record<string, number>;
  token: string;
}

interface Walk {
  name: string;
  /** Runs in both servers. */
  before: (server: Server) => Promise<void>;
  action: (server: Server) => Promise<void>;
}

const WALKS: Walk[] = [
  {
    name: 'SMTP DATA to stored and indexed',
    before: (server) => smtp(server, []),
    action: (server) => smtp(server, MAIL),
  },
  {
    name: 'SMTP DATA and IMAP FETCH',
    before: (server) => smtp(server, []),
    action: async (server) => {
      await smtp(server, MAIL);
      await imap(server);
    },
  },
  {
    name: 'MCP send_email to queue row',
    before: (server) => tool(server, 'whoami', {}),
    action: (server) =>
      tool(server, 'send_email', { from: 'me@box.test', to: 'x@remote.example', subject: 'Hi', text: 'Hi' }),
  },
  {
    name: 'JMAP Email/set create',
    before: async (server) => void (await jmap(server, ['Mailbox/get', {}])),
    action: async (server) => {
      const inbox = await jmap(server, ['Mailbox/get', {}]);
      const email = {
        mailboxIds: { [inbox]: true },
        subject: 'Hi',
        bodyValues: { 1: { value: 'Hi' } },
        textBody: [{ partId: '1' }],
      };
      await jmap(server, ['Email/set', { create: { a: email } }]);
    },
  },
];

const MAIL = [
  'MAIL FROM:<anna@remote.example>',
  'RCPT TO:<me@box.test>',
  'DATA',
  'From: anna@remote.example\r\nTo: me@box.test\r\nSubject: Hi\r\nMessage-ID: <1@remote.example>\r\n\r\nHello there\r\n.',
];

for (const walk of process.argv[2] === undefined
  ? WALKS
  : WALKS.filter(({ name }) => name.includes(process.argv[2] ?? ''))) {
  const without = await covered(walk.before);
  const executed = await covered(async (server) => {
    await walk.before(server);
    await walk.action(server);
  });
  const only = [...executed].filter((one) => !without.has(one));
  const files = new Set([...executed].map(fileOf));
  console.log(
    `${walk.name}: ${new Set(only.map(fileOf)).size} files, ${only.length} functions (of ${files.size} files, ${executed.size} functions in all)`,
  );
  if (process.argv.includes('--list')) for (const one of only.toSorted()) console.log(`  ${one}`);
}

/** Functions of this repository that a server executed from its start to its end. */
async function covered(drive: (server: Server) => Promise<void>): Promise<Set<string>> {
  const directory = await mkdtemp(join(tmpdir(), 'mailstead-walk-'));
  const child = spawn(join(root, 'bin/mailstead'), ['serve'], {
    cwd: root,
    env: environment(directory),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await drive(await ready(child));
    await delay(SETTLE_MS);
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    return await functionsIn(join(directory, 'coverage'));
  } finally {
    child.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  }
}

function environment(directory: string): NodeJS.ProcessEnv {
  const ports = ['HTTP', 'HTTPS', 'SMTP', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS'].map((name) => [
    `MAILSTEAD_${name}_PORT`,
    '0',
  ]);
  return {
    ...process.env,
    ...Object.fromEntries(ports),
    MAILSTEAD_DATA_DIR: join(directory, 'data'),
    MAILSTEAD_LOCAL_PASSWORD: PASSWORD,
    NODE_V8_COVERAGE: join(directory, 'coverage'),
  };
}

async function ready(child: ChildProcess): Promise<Server> {
  let token = '';
  let listeners: Record<string, number> | undefined;
  if (child.stdout === null) throw new Error('the server has no standard output');
  for await (const line of createInterface(child.stdout)) {
    token ||= /mst_[0-9a-f]{48}/.exec(line)?.[0] ?? '';
    if (line.includes('"msg":"ready"')) ({ listeners } = JSON.parse(line) as { listeners: Record<string, number> });
    if (token !== '' && listeners !== undefined) break;
  }
  child.stdout.resume();
  if (listeners === undefined) throw new Error('the server ended before it was ready');
  return { listeners, token };
}

async function functionsIn(directory: string): Promise<Set<string>> {
  const found = new Set<string>();
  for (const file of await readdir(directory)) {
    const { result } = JSON.parse(await readFile(join(directory, file), 'utf8')) as { result: ScriptCoverage[] };
    for (const { url, functions } of result) {
      const path = url.startsWith('file://') ? fileURLToPath(url) : '';
      if (!path.startsWith(root) || path.includes('node_modules')) continue;
      // The first function is the module itself.
      for (const { functionName, ranges } of functions.slice(1)) {
        const [range] = ranges;
        if (range !== undefined && range.count > 0)
          found.add(`${path.slice(root.length)}:${functionName}:${range.startOffset}`);
      }
    }
  }
  return found;
}

interface ScriptCoverage {
  url: string;
  functions: { functionName: string; ranges: { startOffset: number; count: number }[] }[];
}

function fileOf(one: string): string {
  return one.split(':')[0] ?? '';
}

async function smtp({ listeners }: Server, lines: readonly string[]): Promise<void> {
  await talk(listeners['smtp'], ['EHLO walk.example', ...lines, 'QUIT'], /^\d{3} .*\r\n$/m);
}

async function imap({ listeners }: Server): Promise<void> {
  const lines = [`LOGIN me@box.test ${PASSWORD}`, 'SELECT INBOX', 'FETCH 1 (FLAGS ENVELOPE BODY[])', 'LOGOUT'];
  await talk(
    listeners['imap'],
    lines.map((line, index) => `a${index} ${line}`),
    /^(?:\* OK|a\d (?:OK|NO|BAD)).*\r\n$/m,
  );
}

/** Sends each line when the answer to the one before has ended. */
async function talk(port: number | undefined, lines: readonly string[], ended: RegExp): Promise<void> {
  const socket: Socket = connect(port ?? 0, '127.0.0.1');
  let answer = '';
  let next = 0;
  for await (const chunk of socket) {
    answer += String(chunk);
    if (!ended.test(answer.slice(answer.lastIndexOf('\n', answer.length - 2) + 1))) continue;
    answer = '';
    const line = lines[next++];
    if (line === undefined) break;
    socket.write(`${line}\r\n`);
  }
  socket.destroy();
}

async function tool(server: Server, name: string, args: object): Promise<void> {
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const answer = await post(server, '/mcp', `Bearer ${server.token}`, request);
  if (answer.includes('"isError":true') || answer.includes('"error":{')) throw new Error(answer);
}

async function jmap(server: Server, [method, args]: readonly [string, object]): Promise<string> {
  const authorization = `Basic ${Buffer.from(`me@box.test:${PASSWORD}`).toString('base64')}`;
  const session = await (await fetch(`${base(server)}/jmap/session`, { headers: { authorization } })).text();
  const account = (JSON.parse(session) as { primaryAccounts: Record<string, string> }).primaryAccounts[
    'urn:ietf:params:jmap:mail'
  ];
  const request = {
    using: ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail'],
    methodCalls: [[method, { accountId: account, ...args }, '0']],
  };
  const answer = await post(server, '/jmap/api', authorization, request);
  if (!answer.includes(`"${method}"`) || answer.includes('"notCreated":{')) throw new Error(answer);
  return /"id":"([^"]+)"/.exec(answer)?.[1] ?? '';
}

async function post(server: Server, path: string, authorization: string, body: object): Promise<string> {
  const headers = { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return (await fetch(`${base(server)}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).text();
}

function base({ listeners }: Server): string {
  return `http://127.0.0.1:${listeners['http']}`;
}
