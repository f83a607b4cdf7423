import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { type Box, startBox } from '../support/box.ts';
import { outcome, rpc } from '../support/mcp.ts';
import { openBrowser } from './chromium.ts';
import { openSite, SITE } from './sign-up-site.ts';

/** Maximum cost of a sign-up for an agent. */
const MOST = { calls: 6, characters: 6_000 };

let box: Box;
let browser: Browser;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  await box.ask('add_domain', { domain: 'agents.example' });
  browser = await openBrowser([`--host-resolver-rules=MAP ${SITE} 127.0.0.1`]);
});
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
});

/** An agent over MCP whose calls and results are counted. */
class Agent {
  calls = 0;
  characters = 0;
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async call(name: string, args: object): Promise<Record<string, unknown>> {
    const authorization = `Bearer ${this.#token}`;
    const said = await rpc(
      `http://127.0.0.1:${box.port('http')}`,
      'tools/call',
      { name, arguments: args },
      { authorization },
    );
    const result = outcome(said);
    this.calls += 1;
    this.characters += JSON.stringify(result).length;
    return result;
  }
}

test('an agent makes a mailbox, signs up at a site, is given the code and is in', async () => {
  await using site = await openSite(box.port('smtp'));
  const made = await box.ask('create_agent_token', { name: 'signs up', actions: ['manage', 'read'] });
  const agent = new Agent((made as { secret: string }).secret);
  const { mailbox } = await agent.call('provision_email', { domain: 'agents.example', localPart: 'shopper' });
  const { id, address } = mailbox as { id: string; address: string };

  const page = await browser.newPage();
  await page.goto(`http://${SITE}:${site.port}/`);
  await page.getByLabel('E-mail').fill(address);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByText('We sent a code').waitFor();

  const answer = await agent.call('wait_for_code', { mailbox: id, expectFrom: SITE });
  expect(answer).toMatchObject({ matched: true, confidence: 'high', sender: 'local', link: null });
  expect(JSON.stringify(answer)).not.toMatch(/thief|000000/);
  await page.getByLabel('Code').fill(String(answer['code']));
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('You are in.').waitFor();

  expect(site.members).toEqual(new Set([address]));
  expect(agent.calls).toBeLessThanOrEqual(MOST.calls);
  expect(agent.characters).toBeLessThanOrEqual(MOST.characters);
  console.log(`a sign-up: ${agent.calls} calls, ${agent.characters} characters of results`);
});
