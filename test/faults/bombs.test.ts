import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { BOMBS } from '../support/bombs.ts';
import { type Box, startBox } from '../support/box.ts';
import { Canary } from '../support/canary.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { allowed } from '../support/held-sockets.ts';
import { JmapClient, listOf, ref } from '../support/jmap-client.ts';
import { cpuOfProcess } from '../support/process-cost.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { Wire } from '../support/wire.ts';

/** Row E10. Most CPU time of one step, as a multiple of the longest step of an ordinary message of that size. */
const MOST_CPU_RATIO = 6;
/** Most CPU time for BODYSTRUCTURE, measured by the same. */
const MOST_STRUCTURE_RATIO = 1;
/** Octets. */
const LARGEST_STRUCTURE = 1_000_000;
/** Lines of 76 octets of an attachment in base64: as large as the bombs. */
const ATTACHMENT_LINES = 320_000;
/** Guard against hangs; the cost is asserted. */
const PATIENT = { patienceMs: 120_000 };

let box: Box;
/** Accounts in turns: each holds 500 MB of uploads at most. */
let clients: JmapClient[];
let imports = 0;
let receiver: WebhookReceiver<unknown>;
let ordinary: Passage[];
beforeAll(async () => {
  receiver = await new WebhookReceiver().open();
  box = await startBox({ settings: UNDER_LOAD });
  await box.ask('set_email_inbound_webhook', { address: box.address, url: receiver.url });
  clients = [await clientOf({ address: box.address, password: box.password })];
  for (const address of ['second@box.test', 'third@box.test']) {
    const { password } = (await box.ask('add_mailbox', { address })) as { password: string };
    clients.push(await clientOf({ address, password }));
  }
  // The first warms up: modules loaded with the first message do not count.
  await passageOf(ordinaryMail());
  ordinary = [await passageOf(ordinaryMail()), await passageOf(ordinaryMail())];
  console.log(ordinary.map((one) => describePassage('an ordinary message', one)).join('\n'));
}, 180_000);
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  receiver[Symbol.dispose]();
});

function clientOf({ address, password }: { address: string; password: string }): Promise<JmapClient> {
  return JmapClient.discover(`http://127.0.0.1:${box.port('http')}`, { user: address, password });
}

/** One message on its way through every entrance, with the CPU time of each step in ms. */
interface Passage {
  cpu: Record<'smtp' | 'webhook' | 'append' | 'imported' | 'imap' | 'jmap', number>;
  replies: { smtp: string; append: string };
  structureOctets: number;
  /** Longest delay of other clients, p99 in ms. */
  delay: number;
}

/** Each is accepted or rejected for good and read over every protocol, and delays nobody else. */
test.each(BOMBS)('$name', async ({ name, make }) => {
  const bomb = make();
  const passages = [await passageOf(bomb)];
  // Other load only adds: the least of three counts if the first is too high.
  while (!isCheap(passages) && passages.length < 3) passages.push(await passageOf(bomb));
  console.log(passages.map((one) => describePassage(name, one)).join('\n'));
  for (const { replies, structureOctets } of passages) {
    expect(replies.smtp).toMatch(/^(?:250|55\d) /);
    expect(replies.append).toMatch(/^a (?:OK|NO)/);
    expect(structureOctets).toBeLessThan(LARGEST_STRUCTURE);
  }
  const { steps, structure, delay } = ratios(passages);
  expect(steps, 'CPU time of the longest step').toBeLessThan(MOST_CPU_RATIO);
  expect(structure, 'CPU time of BODYSTRUCTURE').toBeLessThan(MOST_STRUCTURE_RATIO);
  expect(delay, 'ms that others wait').toBeLessThan(mostDelay());
});

function isCheap(passages: readonly Passage[]): boolean {
  const { steps, structure, delay } = ratios(passages);
  return steps < MOST_CPU_RATIO && structure < MOST_STRUCTURE_RATIO && delay < mostDelay();
}

/** Returns the least of all passages; CPU as a multiple of the longest step of an ordinary message. */
function ratios(passages: readonly Passage[]): { steps: number; structure: number; delay: number } {
  const least = (of: (one: Passage) => number, all = passages): number => Math.min(...all.map(of));
  const longest = (one: Passage): number => Math.max(...Object.values(one.cpu));
  const unit = least(longest, ordinary);
  return {
    steps: least(longest) / unit,
    structure: least(({ cpu }) => cpu.imap) / unit,
    delay: least(({ delay }) => delay),
  };
}

function mostDelay(): number {
  return allowed(250, Math.min(...ordinary.map(({ delay }) => delay)));
}

function describePassage(name: string, { cpu, structureOctets, delay }: Passage): string {
  return `${name}: ms of CPU ${JSON.stringify(cpu)}, structure ${structureOctets} octets, others wait ${delay} ms`;
}

/** Sends a message through each entrance, then reads it over IMAP and JMAP. */
async function passageOf(message: Buffer): Promise<Passage> {
  using canary = await Canary.watch(box);
  const notified = receiver.told.length;
  const smtp = await measured(() => throughSmtp(message));
  const webhook = await measured(async () => {
    if (smtp.result.startsWith('250'))
      await vi.waitUntil(() => receiver.told.length === notified + 1, { timeout: 60_000 });
  });
  const append = await measured(() => throughAppend(message));
  const imported = await measured(() => throughJmap(message));
  const imap = await measured(readByImap);
  const jmap = await measured(readByJmap);
  const delays = Object.values(await canary.end()).map(({ p99 }) => p99);
  return {
    cpu: {
      smtp: smtp.cpu,
      webhook: webhook.cpu,
      append: append.cpu,
      imported: imported.cpu,
      imap: imap.cpu,
      jmap: jmap.cpu,
    },
    replies: { smtp: smtp.result, append: append.result },
    structureOctets: imap.result,
    delay: Math.max(...delays),
  };
}

async function measured<T>(act: () => Promise<T>): Promise<{ result: T; cpu: number }> {
  const before = cpuOfProcess(box.pid);
  const result = await act();
  return { result, cpu: cpuOfProcess(box.pid) - before };
}

/** A text with a large attachment, as a person sends it. */
function ordinaryMail(): Buffer {
  const head = [
    'From: a@far.example',
    'Subject: Plans',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    '',
    'The plans are attached.',
    '--b',
    'Content-Type: application/octet-stream; name=plans.bin',
    'Content-Transfer-Encoding: base64',
    '',
    '',
  ].join('\r\n');
  const line = `${Buffer.from(Array.from({ length: 57 }, (_, i) => (i * 131) % 256)).toString('base64')}\r\n`;
  return Buffer.from(`${head}${line.repeat(ATTACHMENT_LINES)}--b--\r\n`);
}

async function throughSmtp(message: Buffer): Promise<string> {
  using wire = await Wire.open(box.port('smtp'), PATIENT);
  await wire.reply();
  for (const line of ['EHLO far.example', 'MAIL FROM:<bomb@far.example>', `RCPT TO:<${box.address}>`, 'DATA'])
    await wire.command(line);
  wire.send(message);
  return await wire.command('.');
}

async function throughAppend(message: Buffer): Promise<string> {
  using wire = await loggedIn();
  wire.send(`a APPEND INBOX {${message.length}+}\r\n`);
  wire.send(message);
  wire.send('\r\n');
  return (await answer(wire)).at(-1) ?? '';
}

async function throughJmap(message: Buffer): Promise<void> {
  const client = clients[imports++ % clients.length];
  if (client === undefined) throw new Error('no client');
  const { blobId } = await client.upload(new Uint8Array(message), 'message/rfc822');
  const inbox = String((await client.call('Mailbox/query', { filter: { role: 'inbox' } }))['ids']);
  await client.call('Email/import', { emails: { one: { blobId, mailboxIds: { [inbox]: true } } } });
}

/** Returns the octets of the answer about the newest message. */
async function readByImap(): Promise<number> {
  using wire = await loggedIn();
  wire.send('a SELECT INBOX\r\n');
  await answer(wire);
  wire.send('a FETCH * (ENVELOPE BODYSTRUCTURE BODY.PEEK[HEADER.FIELDS (SUBJECT REFERENCES)])\r\nb LOGOUT\r\n');
  const answered = await wire.all();
  expect(answered).toContain('\r\na OK');
  return answered.length;
}

const PROPERTIES = [
  'subject',
  'from',
  'to',
  'references',
  'preview',
  'headers',
  'bodyStructure',
  'bodyValues',
  'textBody',
];

async function readByJmap(): Promise<void> {
  const newest = { sort: [{ property: 'receivedAt', isAscending: false }], limit: 1 };
  const { get } =
    (await clients[0]?.calls([
      ['Email/query', newest, 'query'],
      [
        'Email/get',
        { '#ids': ref('query', 'Email/query', '/ids'), properties: PROPERTIES, fetchAllBodyValues: true },
        'get',
      ],
    ])) ?? {};
  expect(listOf(get)).toHaveLength(1);
}

async function loggedIn(): Promise<Wire> {
  const wire = await Wire.open(box.port('imap'), PATIENT);
  await wire.line();
  wire.send(`a LOGIN ${box.address} ${box.password}\r\n`);
  await answer(wire);
  return wire;
}

async function answer(wire: Wire): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const line = await wire.line();
    if (line === undefined) throw new Error(`the connection ended after ${lines.at(-1)}`);
    lines.push(line);
    if (line.startsWith('a ')) return lines;
  }
}
