import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BOMBS } from '../support/bombs.ts';
import { type Box, startBox } from '../support/box.ts';
import { busy } from '../support/busy.ts';
import { Canary } from '../support/canary.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { JmapClient, listOf, ref } from '../support/jmap-client.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { Wire } from '../support/wire.ts';

/** ms. Row E10. */
const LONGEST_ANSWER = 5000;
const MOST_CPU = 2000;
const LONGEST_STRUCTURE = 1000;
const MOST_WAIT = 250;
/** Octets. */
const LARGEST_STRUCTURE = 1_000_000;
const TICKS_MS = 10;
/** Something that takes too long is to be told by its figure. */
const patient = (): { patienceMs: number } => ({ patienceMs: 2 * LONGEST_ANSWER * busy() });

let box: Box;
let jmap: JmapClient;
/** Beside it, for an account holds 500 MB of uploads at most. */
let other: JmapClient;
let imports = 0;
let receiver: WebhookReceiver<unknown>;
beforeAll(async () => {
  receiver = await new WebhookReceiver().open();
  box = await startBox({ settings: UNDER_LOAD });
  await box.ask('set_email_inbound_webhook', { address: box.address, url: receiver.url });
  const base = `http://127.0.0.1:${box.port('http')}`;
  jmap = await JmapClient.discover(base, { user: box.address, password: box.password });
  await box.ask('provision_email', { domain: 'box.test', localPart: 'other' });
  const { imap } = (await box.ask('reveal_email_credentials', { address: 'other@box.test' })) as {
    imap: { username: string; password: string };
  };
  other = await JmapClient.discover(base, { user: imap.username, password: imap.password });
  // What is loaded with the first message is not its fault.
  expect(await throughSmtp(Buffer.from('From: a@far.example\r\nSubject: first\r\n\r\nwords\r\n'))).toMatch(/^250 /);
  await readByImap();
  await readByJmap();
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  receiver[Symbol.dispose]();
});

/** Each is taken or refused for good, and read by every door, while nobody else has to wait for it. */
test.each(BOMBS)('$name', { retry: 1 }, async ({ name, make }) => {
  const bomb = make();
  using canary = await Canary.watch(box);
  const heard = receiver.told.length;
  const smtp = await measured(() => throughSmtp(bomb));
  const webhook = await measured(async () => {
    if (smtp.said.startsWith('250')) await expect.poll(() => receiver.told.length, { timeout: 30_000 }).toBe(heard + 1);
  });
  const append = await measured(() => throughAppend(bomb));
  const imported = await measured(() => throughJmap(imports++ % 2 === 0 ? jmap : other, bomb));
  const imap = await measured(readByImap);
  const read = await measured(readByJmap);
  const waits = await canary.end();
  const figures = { smtp, webhook, append, imported, imap, read };
  const times = Object.entries(figures).map(([door, { took, cpu }]) => `${door} ${took} ms (CPU ${cpu})`);
  console.log(`${name}: ${times.join(', ')}, structure ${imap.said} octets, waits ${JSON.stringify(waits)}`);
  expect(smtp.said).toMatch(/^(?:250|55\d) /);
  expect(append.said).toMatch(/^a (?:OK|NO)/);
  for (const { took, cpu } of Object.values(figures)) {
    expect(took).toBeLessThan(LONGEST_ANSWER * busy());
    expect(cpu).toBeLessThan(MOST_CPU);
  }
  expect(imap.took).toBeLessThan(LONGEST_STRUCTURE * busy());
  expect(imap.said).toBeLessThan(LARGEST_STRUCTURE);
  for (const { p99 } of Object.values(waits)) expect(p99).toBeLessThan(MOST_WAIT * busy());
});

/** What something answered, how long it took, and what all threads of the box did meanwhile. */
async function measured<T>(act: () => Promise<T>): Promise<{ said: T; took: number; cpu: number }> {
  const [began, before] = [performance.now(), cpuOf(box.pid)];
  const said = await act();
  return { said, took: Math.round(performance.now() - began), cpu: cpuOf(box.pid) - before };
}

/** CPU time of a process so far, in ms. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICKS_MS;
}

async function throughSmtp(message: Buffer): Promise<string> {
  using wire = await Wire.open(box.port('smtp'), patient());
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

async function throughJmap(jmap: JmapClient, message: Buffer): Promise<string> {
  const { blobId } = await jmap.upload(new Uint8Array(message), 'message/rfc822');
  const inbox = String((await jmap.call('Mailbox/query', { filter: { role: 'inbox' } }))['ids']);
  const said = await jmap.call('Email/import', { emails: { one: { blobId, mailboxIds: { [inbox]: true } } } });
  return JSON.stringify(said['created'] ?? said['notCreated']);
}

/** Octets of the answer about the newest message. */
async function readByImap(): Promise<number> {
  using wire = await loggedIn();
  wire.send('a SELECT INBOX\r\n');
  await answer(wire);
  wire.send('a FETCH * (ENVELOPE BODYSTRUCTURE BODY.PEEK[HEADER.FIELDS (SUBJECT REFERENCES)])\r\nb LOGOUT\r\n');
  const said = await wire.all();
  expect(said).toContain('\r\na OK');
  return said.length;
}

async function readByJmap(): Promise<void> {
  const properties = [
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
  const newest = { sort: [{ property: 'receivedAt', isAscending: false }], limit: 1 };
  const { get } = await jmap.calls([
    ['Email/query', newest, 'query'],
    ['Email/get', { '#ids': ref('query', 'Email/query', '/ids'), properties, fetchAllBodyValues: true }, 'get'],
  ]);
  expect(listOf(get)).toHaveLength(1);
}

async function loggedIn(): Promise<Wire> {
  const wire = await Wire.open(box.port('imap'), patient());
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
