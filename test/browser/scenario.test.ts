import type { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { JmapClient } from '../support/jmap-client.ts';
import { JmapMailbox } from '../support/jmap-mailbox.ts';
import { tool } from '../support/mcp.ts';
import { openBrowser, type Watched, watchedPage } from './chromium.ts';
import { byImap, byJmap, byPage, byTools, expectedThreads, imapClient, linesOf } from './scenario-views.ts';

let box: Box;
let base: string;
let browser: Browser;
let agent: string;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  const input = { name: 'support-bot', actions: ['read', 'manage'] };
  agent = ((await box.ask('create_agent_token', input)) as { secret: string }).secret;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await box?.[Symbol.asyncDispose]();
});

/** Letters, by who works on them. Several work on the last two at once. */
const LETTERS = [
  ...['archived', 'starred', 'answered', 'returned'].map((word) => `Ada ${word}`),
  ...['trashed', 'junked', 'taken over', 'undone'].map((word) => `Bert ${word}`),
  ...['flagged', 'moved', 'read'].map((word) => `Program ${word}`),
  ...['starred', 'moved', 'restored', 'held'].map((word) => `Agent ${word}`),
  'Moved by two',
  'Wanted by all',
];

async function deliverAll(): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const from = 'Ada <ada@example.test>';
  for (const subject of LETTERS)
    await transport.sendMail({ to: box.address, from, subject, text: `Text of ${subject}.` });
  transport.close();
}

/** A tool that the agent calls. */
async function asAgent(name: string, input: object): Promise<Record<string, unknown>> {
  const { status, body } = await tool(base, name, { mailbox: box.address, ...input }, agent);
  expect([name, status < 300 || JSON.stringify(body)]).toEqual([name, true]);
  return body;
}

/** The ids of the letters, as the agent knows them, once all have arrived. */
async function arrived(): Promise<(subject: string) => string> {
  const list = async () => {
    const { messages } = await asAgent('list_messages', { limit: 50 });
    return messages as { id: string; untrusted: { subject: string } }[];
  };
  await expect.poll(async () => (await list()).length).toBe(LETTERS.length);
  const ids = new Map((await list()).map(({ id, untrusted }) => [untrusted.subject, id]));
  return (subject) => ids.get(subject) ?? expect.fail(subject);
}

async function signIn(): Promise<Watched> {
  const watched = await watchedPage(browser, base, { viewport: { width: 1280, height: 2000 } });
  const { page } = watched;
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(box.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
  return watched;
}

const row = (page: Page, subject: string) => page.locator('.row', { hasText: `Text of ${subject}.` });

async function open(page: Page, subject: string): Promise<void> {
  await row(page, subject).locator('a').click();
  await page.getByRole('region', { name: 'Conversation' }).getByText(`Text of ${subject}.`).first().waitFor();
}

/** Opens a letter and presses the key that files it. */
async function file(page: Page, subject: string, key: string): Promise<void> {
  await open(page, subject);
  await page.keyboard.press(key);
  await row(page, subject).waitFor({ state: 'detached' });
}

async function ada(page: Page): Promise<void> {
  await file(page, 'Ada returned', 'e');
  await page.keyboard.press('z');
  await row(page, 'Ada returned').waitFor();
  await file(page, 'Ada archived', 'e');
  await row(page, 'Ada starred').locator('.star').click();
  await open(page, 'Agent held');
  await page.getByRole('button', { name: 'Approve and send' }).click();
  await page.getByText('Approved: the message is being sent.').waitFor();
  await open(page, 'Ada answered');
  await page.keyboard.press('r');
  await page.getByLabel('Message', { exact: true }).fill('An answer.\n');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('Sent.').waitFor({ timeout: 60_000 });
}

async function bert(page: Page): Promise<void> {
  await file(page, 'Bert trashed', '#');
  await file(page, 'Bert junked', '!');
  await open(page, 'Bert taken over');
  await page.getByRole('button', { name: 'Take over' }).click();
  await page.getByText('This conversation is yours: no agent answers it.').waitFor();
  await open(page, 'Bert undone');
  const note = page.locator('details', { hasText: 'Agent support-bot changed this conversation' });
  await note.locator('summary').click();
  await note.getByRole('button', { name: 'Undo its changes' }).click();
  await note.waitFor({ state: 'detached' });
  await open(page, 'Wanted by all');
  await page.keyboard.press('s');
}

async function uidOf(client: ImapFlow, subject: string): Promise<string> {
  const found = await client.search({ subject }, { uid: true });
  return String((Array.isArray(found) ? found[0] : undefined) ?? expect.fail(subject));
}

/** A mail program, in the inbox. `twice` is the number of a letter that the agent moves at the same time. */
async function program(client: ImapFlow, twice: string): Promise<void> {
  const uid = (subject: string): Promise<string> => uidOf(client, subject);
  const at = { uid: true };
  await client.messageMove(twice, 'Trash', at);
  await client.messageFlagsAdd(await uid('Program flagged'), [String.raw`\Flagged`], at);
  await client.messageFlagsAdd(await uid('Program read'), [String.raw`\Seen`], at);
  await client.messageMove(await uid('Program moved'), 'Archive', at);
  await client.messageFlagsAdd(await uid('Wanted by all'), [String.raw`\Seen`], at);
}

async function worker(idOf: (subject: string) => string): Promise<void> {
  const change = (subject: string, input: object) =>
    asAgent('update_message', { messageIds: [idOf(subject)], ...input });
  await change('Moved by two', { folder: 'archive' });
  await change('Agent starred', { starred: true, unread: false });
  await change('Agent moved', { folder: 'archive' });
  const messageIds = [idOf('Agent restored')];
  await asAgent('trash_message', { messageIds });
  await asAgent('restore_message', { messageIds });
  await change('Wanted by all', { addLabels: ['wanted'] });
}

/** Prepares what people find: a claim, a change and an answer of the agent. */
async function begin(idOf: (subject: string) => string): Promise<void> {
  await asAgent('claim_message', { messageId: idOf('Bert taken over') });
  await asAgent('update_message', { messageIds: [idOf('Bert undone')], addLabels: ['invoices'], starred: true });
  await asAgent('get_message', { messageId: idOf('Agent held') });
  const cc = ['somebody.else@elsewhere.example'];
  const sent = await asAgent('reply_to_email', { messageId: idOf('Agent held'), text: 'Held answer.', cc });
  expect(JSON.stringify(sent)).toContain('pending_approval');
}

test('two people, a mail program and an agent work in one mailbox at once, and all of them see the same at the end', async () => {
  await deliverAll();
  const idOf = await arrived();
  await begin(idOf);
  const [first, second] = [await signIn(), await signIn()];
  const client = imapClient(box);
  await client.connect();
  await client.mailboxOpen('INBOX');
  const twice = await uidOf(client, 'Moved by two');
  await Promise.all([ada(first.page), bert(second.page), program(client, twice), worker(idOf)]);
  await client.logout();

  const { address: user, password } = box;
  const mailbox = await JmapMailbox.open(await JmapClient.discover(base, { user, password }));
  // The answers leave by the queue, and the letter about the held one arrives meanwhile: all compare the same moment.
  const equal = async (): Promise<string[][]> => {
    const jmap = await byJmap(mailbox);
    const lines = linesOf(jmap);
    const others = [linesOf(await byImap(box)), linesOf(await byTools(asAgent))];
    const threads = expectedThreads(jmap);
    const shown = [await byPage(first.page, mailbox), await byPage(second.page, mailbox)];
    return [...others.map((one) => differing(lines, one)), ...shown.map((one) => differing(threads, one))];
  };
  await expect.poll(equal, { timeout: 100_000 }).toEqual([[], [], [], []]);

  const found = linesOf(await byJmap(mailbox)).map((line) => line.replace(/ thread=.*/, ''));
  expect(found.filter((line) => line.includes('/Moved by two '))).toHaveLength(1);
  for (const line of EXPECTED) expect(found).toContainEqual(line);
  // Two windows and a program share the requests of one account: those above maxConcurrentRequests are repeated.
  const isRepeated = (line: string): boolean => /status of 400 .*\/mail\/jmap\/api$/.test(line);
  expect([...first.wrong, ...second.wrong].filter((line) => !isRepeated(line))).toEqual([]);
}, 240_000);

/** Lines of one list alone. */
const differing = (a: readonly string[], b: readonly string[]): string[] => [
  ...a.filter((line) => !b.includes(line)).map((line) => `missing: ${line}`),
  ...b.filter((line) => !a.includes(line)).map((line) => `too many: ${line}`),
];

/** Lines that each of them caused. */
const EXPECTED = [
  'archive/Ada archived seen=true flagged=false',
  'inbox/Ada returned seen=true flagged=false',
  'inbox/Ada starred seen=false flagged=true',
  'sent/Re: Ada answered seen=true flagged=false',
  'trash/Bert trashed seen=true flagged=false',
  'junk/Bert junked seen=true flagged=false',
  'inbox/Bert undone seen=true flagged=false',
  'inbox/Program flagged seen=false flagged=true',
  'inbox/Program read seen=true flagged=false',
  'archive/Program moved seen=false flagged=false',
  'inbox/Agent starred seen=true flagged=true',
  'archive/Agent moved seen=false flagged=false',
  'inbox/Agent restored seen=false flagged=false',
  'sent/Re: Agent held seen=true flagged=false',
  'inbox/Wanted by all seen=true flagged=true',
];
