import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OWNER_PASSWORD, type PortalBox, portalBox } from '../../support/visitor.ts';
import { openBrowser, signedInAs, type Watched, watchedPage } from '../chromium.ts';
import { deliver, heldAnswer, openMail } from './mail-tasks.ts';
import { TaskVisitor } from './portal-tasks.ts';

/** More than any page of this test has elements. */
const MAX_TABS = 150;

let portal: PortalBox;
let browser: Browser;
beforeAll(async () => {
  [portal, browser] = await Promise.all([portalBox(), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await portal.box[Symbol.asyncDispose]();
});

/** A person with a keyboard only. */
class KeyboardVisitor {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async open(path: string): Promise<void> {
    await this.page.goto(`${portal.base}${portal.acme.path}${path}`);
  }

  /** Presses Tab until the element has the focus; it has to show that. */
  async reach(target: Locator): Promise<void> {
    const one = target.first();
    await one.waitFor();
    for (let presses = 0; presses < MAX_TABS; presses++) {
      if (await one.evaluate((element) => element.matches(':focus-visible'))) return;
      await this.page.keyboard.press('Tab');
    }
    throw new Error(`not reached by ${MAX_TABS} times Tab: ${String(target)}`);
  }

  async type(label: string, text: string): Promise<void> {
    await this.reach(this.page.getByLabel(label, { exact: true }));
    await this.page.keyboard.type(text);
  }

  async press(role: 'button' | 'link', name: string | RegExp): Promise<void> {
    await this.reach(this.page.getByRole(role, { name, exact: typeof name === 'string' }));
    await this.page.keyboard.press('Enter');
  }

  async expand(name: string): Promise<void> {
    await this.reach(this.page.locator('summary', { hasText: name }));
    await this.page.keyboard.press('Enter');
  }

  async sees(text: string | RegExp): Promise<void> {
    await this.page.locator('main').getByText(text).filter({ visible: true }).first().waitFor();
  }
}

/** Declares a task that is done without a pointer. */
function byKeyboard(name: string, run: (person: KeyboardVisitor, watched: Watched) => Promise<void>): void {
  test(`${name} with the keyboard only`, async () => {
    const watched = await watchedPage(browser, portal.base, { viewport: { width: 1280, height: 860 } });
    await signedInAs(watched, portal.base, portal.acme.owner.secret);
    await run(new KeyboardVisitor(watched.page), watched);
    expect(watched.wrong).toEqual([]);
    await watched.context.close();
  });
}

byKeyboard('signs in', async (person, { context, page }) => {
  await context.clearCookies();
  await page.goto(`${portal.base}/login`);
  await person.type('Mail address', 'ada@example.test');
  await person.type('Password', OWNER_PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/o\/org_\d+$/);
});

byKeyboard('adds a domain', async (person) => {
  await person.open('');
  await person.press('link', 'Domains');
  await person.type('Domain', 'keys.test');
  await person.press('button', 'Add domain');
  await person.sees('v=spf1');
});

byKeyboard('creates a mailbox', async (person) => {
  await person.open('/mailboxes');
  await person.type('Address', 'kim');
  await person.press('button', 'Create mailbox');
  await person.sees('Mailbox created');
});

byKeyboard('creates an alias', async (person) => {
  await person.open('/mailboxes/mbx_2/addresses');
  await person.expand('Create an alias');
  await person.reach(person.page.locator('#alias-name'));
  await person.page.keyboard.type('shop');
  await person.press('button', 'Create alias');
  await person.sees('Alias created');
});

byKeyboard('invites a colleague', async (person) => {
  await person.open('/members');
  await person.type('Mail address', 'colleague@remote.example');
  await person.press('button', 'Send invitation');
  await person.sees('Invitation sent');
});

byKeyboard('creates a token and revokes it', async (person, { page }) => {
  await person.open('/tokens');
  await person.type('Name', 'Reader');
  await person.press('button', 'Create token');
  await page.getByLabel('Token', { exact: true }).waitFor();
  const row = page.getByRole('row', { name: 'Reader' });
  await person.reach(row.locator('summary', { hasText: 'Revoke' }));
  await page.keyboard.press('Enter');
  await person.reach(row.getByRole('button', { name: 'Revoke' }));
  await page.keyboard.press('Enter');
  await page.waitForURL(/done=revoked$/);
});

byKeyboard('approves the mail of an agent', async (person, { page }) => {
  const subject = await heldAnswer(new TaskVisitor(page, portal, 0), 'Question');
  await person.open('');
  await person.press('link', /^Approvals/);
  await person.press('link', `Re: ${subject}`);
  await person.press('button', 'Approve and send');
  await person.sees('Message approved.');
});

byKeyboard('stops all agents and starts them', async (person, { page }) => {
  await person.open('/agents');
  await person.expand('Stop all agents');
  await person.press('button', 'Stop all agents');
  await page.waitForURL(/done=stopped$/);
  await person.press('button', 'Start agents');
  await page.waitForURL(/done=started$/);
});

byKeyboard('finds a mailbox from any page', async (person, { page }) => {
  await person.open('/audit');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).waitFor();
  await page.keyboard.type('bert@');
  await page.getByRole('option', { name: /^bert@acme\.test/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/mailboxes\/mbx_3$/);
});

byKeyboard('reads a message and answers it', async (person, { page }) => {
  await deliver(portal, { subject: 'By the keyboard', text: 'No mouse here.' });
  await openMail(new TaskVisitor(page, portal, 0));
  await person.reach(page.locator('.row a', { hasText: 'By the keyboard' }));
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Conversation' }).getByText('No mouse here.').first().waitFor();
  await page.keyboard.press('r');
  await page.getByRole('dialog', { name: 'New message' }).waitFor();
  await person.reach(page.getByRole('textbox', { name: 'Message', exact: true }));
  await page.keyboard.type('Nor here.');
  await person.press('button', 'Send');
  await page.getByText('Sent.').waitFor();
});
