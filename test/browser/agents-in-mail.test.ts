import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { tool } from '../support/mcp.ts';
import { Visitor } from '../support/visitor.ts';
import { openBrowser, signedInAs, watchedPage, type Watched } from './chromium.ts';

let box: Box;
let base: string;
let browser: Browser;
/** Token of the agent, and its id. */
let agent: { secret: string; id: string };
let watched: Watched;
/** The operator, signed in to the portal. */
let operator: Visitor;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  const input = { name: 'support-bot', actions: ['read', 'manage'] };
  const made = (await box.ask('create_agent_token', input)) as { secret: string; token: { id: string } };
  agent = { secret: made.secret, id: made.token.id };
  browser = await openBrowser();
  const links = box.printed.map((line) => /\/auth\/sign-in\?token=([0-9a-f]{48})/.exec(line)?.[1]);
  operator = new Visitor(base);
  await operator.post('/auth/sign-in', { token: links.findLast((one) => one !== undefined) ?? '' });
});
afterAll(async () => {
  await browser?.close();
  await box?.[Symbol.asyncDispose]();
});

async function deliver(subject: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await transport.sendMail({ to: box.address, from: 'Ada <ada@example.test>', subject, text: `Text of ${subject}.` });
  transport.close();
}

/** A tool that the agent calls. */
async function asAgent(name: string, input: object): Promise<Record<string, unknown>> {
  const { status, body } = await tool(base, name, { mailbox: box.address, ...input }, agent.secret);
  expect([name, status < 300 || JSON.stringify(body)]).toEqual([name, true]);
  return body;
}

/** Reads a message as the agent; its id. */
async function readByAgent(subject: string): Promise<string> {
  const found = async (): Promise<string | undefined> => {
    const { messages } = await asAgent('list_messages', {});
    return (messages as { id: string }[]).find((one) => JSON.stringify(one).includes(`"${subject}"`))?.id;
  };
  await expect.poll(found).toBeDefined();
  const messageId = (await found()) ?? '';
  await asAgent('get_message', { messageId });
  return messageId;
}

async function signIn(page: Page): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(box.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
}

/** Opens web mail as the operator, from the portal. */
async function openFromPortal(page: Page): Promise<void> {
  await signedInAs(watched, base, operator.secret);
  await page.goto(`${base}/account`);
  await page.getByRole('button', { name: 'Open mail' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
}

/** Opens Ada's message. The letter about a held answer quotes its subject, so only the message has her text. */
async function open(page: Page, subject: string): Promise<void> {
  await page.locator('.row a', { hasText: `Text of ${subject}.` }).click();
  await page
    .getByRole('region', { name: 'Conversation' })
    .getByText(`Text of ${subject}.`)
    .first()
    .waitFor({ timeout: 60_000 });
}

/** Violations of WCAG 2.2 AA that axe-core finds, by rule. */
async function violations(page: Page): Promise<string[]> {
  const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(source);
  const options = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], iframes: false };
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
  const { violations: all } = found as { violations: { id: string; nodes: { html: string }[] }[] };
  return all.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 120)}`);
}

/** An answer of the agent to a stranger's message, which has to wait for a person. */
async function heldAnswer(subject: string): Promise<void> {
  await deliver(subject);
  const messageId = await readByAgent(subject);
  const to = ['somebody.else@elsewhere.example'];
  const sent = await asAgent('reply_to_email', { messageId, text: `Answer to ${subject}.`, cc: to });
  expect(JSON.stringify(sent)).toContain('pending_approval');
}

describe.each([
  ['on a desktop', { width: 1280, height: 860 }],
  ['on a phone', { width: 390, height: 844 }],
])('agents in a conversation, %s', (where, viewport) => {
  beforeEach(async () => {
    watched = await watchedPage(browser, base, { viewport });
    return () => watched.context.close();
  });

  test('what an agent wants to send stands there with its name and the reasons, and is approved by the keyboard', async () => {
    const { page, wrong } = watched;
    await heldAnswer(`Question ${where}`);
    await signIn(page);
    await open(page, `Question ${where}`);
    const bar = page.getByRole('group', { name: 'Approval' });
    await bar.getByText('Agent support-bot wants to send this to').waitFor();
    await bar.getByText('somebody.else@elsewhere.example').first().waitFor();
    await bar.getByText('It had read mail from ada@example.test').waitFor();
    expect(await violations(page)).toEqual([]);
    await bar.getByRole('button', { name: 'Approve and send' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Approved: the message is being sent.').waitFor();
    await page.getByRole('group', { name: 'Agent' }).getByText('Written by agent support-bot.').waitFor();
    await bar.waitFor({ state: 'detached' });
    expect(wrong).toEqual([]);
  });

  test('a rejected message is not sent', async () => {
    const { page, wrong } = watched;
    await heldAnswer(`Offer ${where}`);
    await signIn(page);
    await open(page, `Offer ${where}`);
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Rejected: the message is not sent.').waitFor();
    const { items } = (await box.ask('list_outbox', { limit: 100 })) as { items: { state: string }[] };
    const found = items.filter((one) => JSON.stringify(one).includes(`Offer ${where}`));
    expect(found.map(({ state }) => state)).toEqual(['denied']);
    expect(wrong).toEqual([]);
  });

  test('a conversation that an agent claimed says so, and is taken over', async () => {
    const { page, wrong } = watched;
    await deliver(`Claimed ${where}`);
    const messageId = await readByAgent(`Claimed ${where}`);
    await asAgent('claim_message', { messageId });
    await signIn(page);
    await open(page, `Claimed ${where}`);
    const claim = page.getByRole('group', { name: 'Claim of an agent' });
    await claim.getByText('Agent support-bot is answering this conversation').waitFor();
    expect(await violations(page)).toEqual([]);
    await claim.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('This conversation is yours: no agent answers it.').waitFor();
    const refused = await tool(base, 'claim_message', { mailbox: box.address, messageId }, agent.secret);
    expect(refused.status).toBe(409);
    await claim.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    const again = async () =>
      (await tool(base, 'claim_message', { mailbox: box.address, messageId }, agent.secret)).status;
    await expect.poll(again).toBe(200);
    expect(wrong).toEqual([]);
  });

  test('what an agent changed is listed and undone', async () => {
    const { page, wrong } = watched;
    await deliver(`Filed ${where}`);
    const messageId = await readByAgent(`Filed ${where}`);
    await asAgent('update_message', { messageIds: [messageId], addLabels: ['invoices'] });
    await signIn(page);
    await open(page, `Filed ${where}`);
    const note = page.locator('details', { hasText: 'Agent support-bot changed this conversation' });
    await note.locator('summary').click();
    await note.getByText('marked as "invoices"').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await note.getByRole('button', { name: 'Undo its changes' }).click();
    await page.getByText('Changes by support-bot undone.').waitFor();
    await note.waitFor({ state: 'detached' });
    await page.locator('.chip', { hasText: 'invoices' }).first().waitFor({ state: 'detached' });
    expect(wrong).toEqual([]);
  });

  test('an owner pauses the agent and lets it work again; who has only the password does not', async () => {
    const { page, wrong } = watched;
    await heldAnswer(`Pause ${where}`);
    await signIn(page);
    await open(page, `Pause ${where}`);
    await page.getByRole('button', { name: 'Reject' }).waitFor();
    expect(await page.getByRole('button', { name: 'Pause this agent' }).count()).toBe(0);
    await openFromPortal(page);
    await open(page, `Pause ${where}`);
    const bar = page.getByRole('group', { name: 'Approval' });
    await bar.getByRole('button', { name: 'Pause this agent' }).click();
    await page.getByText('Agent support-bot is paused').waitFor();
    expect((await tool(base, 'list_messages', { mailbox: box.address }, agent.secret)).status).toBe(403);
    await page.getByRole('button', { name: 'Let it work again' }).first().click();
    const works = async () => (await tool(base, 'list_messages', { mailbox: box.address }, agent.secret)).status;
    await expect.poll(works).toBe(200);
    expect(wrong).toEqual([]);
  });
});
