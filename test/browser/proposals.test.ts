import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { tool } from '../support/mcp.ts';
import { type Owned, ownedOrganization } from '../support/visitor.ts';
import { openBrowser, signedInAs, watchedPage, type Watched } from './chromium.ts';
import { PAYLOADS } from './payloads.ts';

let box: Box;
let base: string;
let browser: Browser;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
});

async function opened(owned: Owned, options: Parameters<typeof watchedPage>[2] = {}): Promise<Watched> {
  const watched = await watchedPage(browser, base, options);
  await signedInAs(watched, base, owned.owner.secret);
  return watched;
}

async function withMailbox(name: string, domain: string): Promise<Owned> {
  const owned = await ownedOrganization(base, name, `owner@${domain.replace('.test', '-home.test')}`);
  await tool(base, 'add_email_domain', { domain }, owned.token);
  await tool(base, 'verify_email_domain', { domain }, owned.token);
  await tool(base, 'provision_email', { domain, localPart: 'desk' }, owned.token);
  return owned;
}

async function agentUnder(owned: Owned, policyId: string, name = 'helper'): Promise<string> {
  const { body } = await tool(base, 'create_agent_token', { name, actions: ['read', 'manage'] }, owned.token);
  const target = (body['token'] as { id: string }).id;
  expect((await owned.owner.act(`${owned.path}/agent-policies`, 'attach', { target, policyId })).status).toBe(303);
  return String(body['secret']);
}

async function policyIdOf(owned: Owned): Promise<string> {
  const { body } = await tool(base, 'get_agent_policy', {}, owned.token);
  return (body['available'] as { policyId: string }[])[0]?.policyId ?? '';
}

describe.each([
  ['with script', true],
  ['without script', false],
])('an owner %s', (_name, javaScriptEnabled) => {
  test('makes a policy, puts a mailbox under it, and accepts one proposal of its agent and refuses another', async () => {
    const domain = `clicks${Number(javaScriptEnabled)}.test`;
    const owned = await withMailbox('Clicks', domain);
    const { page, context, wrong } = await opened(owned, { javaScriptEnabled });
    await page.goto(`${base}${owned.path}`);
    await page.getByRole('link', { name: 'Agent policies' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Support');
    await page.getByLabel('Preset').selectOption('support-desk');
    await page.getByRole('button', { name: 'Create policy' }).click();
    await page.waitForURL(/done=made$/);
    await page.getByText('Reply to people who wrote first, in the same conversation').waitFor();
    await page.getByLabel('Mailbox or token').selectOption({ label: `desk@${domain}` });
    await page.getByLabel('Policy', { exact: true }).selectOption({ label: 'Support' });
    await page.getByRole('button', { name: 'Attach policy' }).click();
    await page.waitForURL(/done=attached$/);
    await page.getByText(`Attached to desk@${domain}.`).waitFor();

    const token = await agentUnder(owned, await policyIdOf(owned));
    for (const to of ['yes@else.example', 'no@else.example']) {
      await tool(base, 'set_email_forwarder', { sourceAddress: `desk@${domain}`, destinationAddress: to }, token);
    }
    await page.goto(`${base}${owned.path}`);
    await page.getByRole('link', { name: 'Review' }).click();
    const one = page.locator('section', { hasText: 'yes@else.example' });
    await one.locator('summary', { hasText: 'Accept' }).click();
    await one.getByRole('button', { name: 'Accept' }).click();
    await page.waitForURL(/done=accepted$/);
    const other = page.locator('section', { hasText: 'no@else.example' });
    await other.getByRole('button', { name: 'Reject' }).click();
    await page.waitForURL(/done=refused$/);
    await page.getByText('No pending proposals').waitFor();
    const { text } = await tool(base, 'list_email_forwarders', {}, owned.token);
    expect([text.includes('yes@else.example'), text.includes('no@else.example')]).toEqual([true, false]);
    expect(wrong).toEqual([]);
    await context.close();
  });
});

describe('what an agent writes into a proposal, and names of policies', () => {
  test('is text, held by the pages alone', async () => {
    const owned = await withMailbox('Names', 'names.test');
    const made = async (name: string): Promise<number> =>
      (await owned.owner.act(`${owned.path}/agent-policies`, 'make', { name, preset: 'custom' })).status;
    for (const name of PAYLOADS) expect([name, await made(name)]).toEqual([name, 303]);
    const policyId = await policyIdOf(owned);
    for (const name of PAYLOADS) {
      const token = await agentUnder(owned, policyId, name);
      const queried = await tool(base, 'create_agent_token', { name, actions: ['read'] }, token);
      expect([name, queried.status]).toEqual([name, 202]);
    }
    const { page, context, wrong } = await opened(owned, { bypassCSP: true });
    for (const path of ['/agent-policies', '/proposals']) {
      await page.goto(`${base}${owned.path}${path}`);
      for (const name of PAYLOADS) expect(await page.locator('main').textContent()).toContain(name);
      expect([path, await grown(page)]).toEqual([path, 0]);
    }
    expect(wrong).toEqual([]);
    await context.close();
  });

  const grown = (page: Page): Promise<number> =>
    page.locator('[data-x], main img, main script, main iframe, main svg, main style, base').count();
});

describe('the pages', () => {
  test('fit a small screen in both schemes with the longest texts, and name each field', async () => {
    const owned = await withMailbox('Wide', 'wide.test');
    const long = `${'w'.repeat(60)}@${'v'.repeat(60)}.example`;
    const policy = { name: 'W'.repeat(80), preset: 'custom', sends: 'allowed', allow: `${long}, x.example` };
    await owned.owner.act(`${owned.path}/agent-policies`, 'make', policy);
    const token = await agentUnder(owned, await policyIdOf(owned), 'W'.repeat(80));
    await tool(base, 'set_email_forwarder', { sourceAddress: 'desk@wide.test', destinationAddress: long }, token);
    await tool(base, 'propose_agent_policy', { policyId: await policyIdOf(owned), block: [long] }, token);
    expect((await owned.owner.get(`${owned.path}/proposals`)).text).toContain('Now blocked');
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, context, wrong } = await opened(owned, { colorScheme, viewport: { width: 360, height: 700 } });
      for (const path of ['/agent-policies', '/proposals']) {
        await page.goto(`${base}${owned.path}${path}`);
        for (const details of await page.locator('main details').all()) {
          await details.evaluate((one: { open: boolean }) => (one.open = true));
        }
        expect([path, await look(page)]).toEqual([path, { wider: 0, headings: 1, nameless: 0 }]);
      }
      expect(wrong).toEqual([]);
      await context.close();
    }
  });

  const look = (page: Page): Promise<unknown> =>
    page.evaluate(`({
      wider: Math.max(0, document.documentElement.scrollWidth - innerWidth),
      headings: document.querySelectorAll('h1').length,
      nameless: [...document.querySelectorAll('input:not([type=hidden]):not([hidden]), select')]
        .filter((one) => one.labels.length === 0).length,
    })`);
});
