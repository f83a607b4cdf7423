import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { expectIntegrity, repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { tool } from '../support/mcp.ts';

const SEED = 20_261_121;
const ATTEMPTS = 5;
const ROUNDS = repetitions(4, 2);
const FROM = 'me@home.example';
const TO = 'bert@home.example';
const TOOLS = ['send_email', 'reply_to_email', 'forward_email', 'send_draft'] as const;
const INTERFACES = ['mcp', 'rest'] as const;

interface Send {
  tool: (typeof TOOLS)[number];
  door: (typeof INTERFACES)[number];
  args: Record<string, unknown>;
}

/** End of an attempt: normal; cut in the middle of the request, or so many ms behind it; with all of the box. */
type Fault = { kind: 'none' } | { kind: 'half' } | { kind: 'cut'; ms: number } | { kind: 'kill'; ms: number };

test('what an agent repeats because it lost the answer arrives once: cut connections, kills, with and without keys', async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  const random = seeded(SEED);
  const { token, messageId, passwords } = await prepared(box);
  const sends = await everyWay(box, token, messageId);
  const kinds: Record<string, number> = {};
  for (const [n, send] of sends.entries()) {
    // A start takes longer than all the rest of a send.
    const killed = n % 4 === 0 ? random(ATTEMPTS - 1) : -1;
    for (let i = 0; i < ATTEMPTS - 1; i++) {
      const fault = i === killed ? ({ kind: 'kill', ms: random(30) } as const) : faultOf(random);
      kinds[fault.kind] = (kinds[fault.kind] ?? 0) + 1;
      await attempt(box, token, send, fault);
    }
    const answer = await attempt(box, token, send, { kind: 'none' });
    expect(answer, `${send.tool} by ${send.door}`).toMatch(/^HTTP\/1\.1 200/);
    expect(answer, answer).toContain('queued');
  }
  const marks = sends.map((_, n) => markOf(n)).toSorted();
  expect(await marksIn(box, TO, passwords.to, 'INBOX'), 'what its recipient has').toEqual(marks);
  expect(await marksIn(box, FROM, passwords.from, 'Sent'), 'copies').toEqual(marks);
  expect(await marksIn(box, FROM, passwords.from, 'Drafts'), 'drafts').toEqual([]);
  await box.stop();
  expectIntegrity(box.dataDir);
  console.log(`${sends.length} sends, ${JSON.stringify(kinds)}, seed ${SEED}`);
});

const markOf = (n: number): string => `mark-${String(n).padStart(3, '0')}-end`;

/** Mailboxes of both, a token of the one that sends, and a message for it to answer and pass on. */
async function prepared(
  box: Box,
): Promise<{ token: string; messageId: string; passwords: { from: string; to: string } }> {
  await box.ask('add_domain', { domain: 'home.example' });
  const passwords: string[] = [];
  for (const address of [FROM, TO]) {
    await box.ask('add_mailbox', { address });
    const { imap } = (await box.ask('reveal_email_credentials', { address })) as { imap: { password: string } };
    passwords.push(imap.password);
  }
  const made = await box.ask('create_agent_token', { name: 'agent', actions: ['read', 'send'] });
  const token = (made as { secret: string }).secret;
  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const mail = { from: 'shop@remote.example', replyTo: TO, to: FROM, subject: 'Offer', text: 'Ten?' };
  await smtp.sendMail(mail);
  const { body } = await tool(baseOf(box), 'list_messages', { mailbox: FROM }, token);
  const [first] = body['messages'] as { id: string }[];
  return { token, messageId: first?.id ?? '', passwords: { from: passwords[0] ?? '', to: passwords[1] ?? '' } };
}

const baseOf = (box: Box): string => `http://127.0.0.1:${box.port('http')}`;

/** Each tool over each protocol, with and without an idempotency key, several times. */
async function everyWay(box: Box, token: string, messageId: string): Promise<Send[]> {
  const sends: Send[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of TOOLS) {
      for (const door of INTERFACES) {
        for (const keyed of [true, false]) {
          const mark = markOf(sends.length);
          const args = await argsOf(box, token, name, messageId, mark);
          sends.push({ tool: name, door, args: keyed ? { ...args, idempotencyKey: mark } : args });
        }
      }
    }
  }
  return sends;
}

async function argsOf(
  box: Box,
  token: string,
  name: Send['tool'],
  messageId: string,
  mark: string,
): Promise<Record<string, unknown>> {
  const mail = { to: [TO], subject: 'Once', text: mark };
  switch (name) {
    case 'send_email':
      return { from: FROM, ...mail };
    case 'reply_to_email':
      return { mailbox: FROM, messageId, text: mark };
    case 'forward_email':
      return { mailbox: FROM, messageId, to: [TO], note: mark };
    case 'send_draft': {
      const { body } = await tool(baseOf(box), 'create_draft', { mailbox: FROM, ...mail }, token);
      const { id: draftId, revision } = body['draft'] as { id: string; revision: string };
      return { mailbox: FROM, draftId, revision };
    }
  }
}

function faultOf(random: (below: number) => number): Fault {
  const kinds: Fault[] = [{ kind: 'none' }, { kind: 'half' }, { kind: 'cut', ms: 0 }, { kind: 'cut', ms: random(40) }];
  return kinds[random(kinds.length)] ?? { kind: 'none' };
}

/** One request as a program sends it; the answer, as far as it came. */
async function attempt(box: Box, token: string, { tool: name, door, args }: Send, fault: Fault): Promise<string> {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const body = JSON.stringify(door === 'mcp' ? call : args);
  const head = [
    `POST ${door === 'mcp' ? '/mcp' : `/api/tools/${name}`} HTTP/1.1`,
    `Host: 127.0.0.1:${box.port('http')}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ].join('\r\n');
  const whole = `${head}\r\n\r\n${body}`;
  const socket = connect(box.port('http'), '127.0.0.1');
  const ended = new Promise<string>((resolve) => {
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket.on('error', () => {}).on('close', () => resolve(answer));
  });
  socket.write(fault.kind === 'half' ? whole.slice(0, -10) : whole);
  if (fault.kind === 'cut' || fault.kind === 'kill') await delay(fault.ms);
  if (fault.kind === 'kill') {
    await box.kill();
    await box.start();
  } else if (fault.kind === 'half') socket.end();
  else if (fault.kind === 'cut') socket.destroy();
  return ended;
}

/** The marks that a folder holds, each as often as it is there. */
async function marksIn(box: Box, user: string, pass: string, folder: string): Promise<string[]> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imap'),
    secure: false,
    doSTARTTLS: false,
    auth: { user, pass },
    logger: false,
  });
  await client.connect();
  const { exists } = await client.mailboxOpen(folder);
  const all = exists === 0 ? [] : await client.fetchAll('1:*', { source: true });
  await client.logout();
  return all.flatMap(({ source }) => /mark-\d{3}-end/.exec(String(source))?.[0] ?? []).toSorted();
}
