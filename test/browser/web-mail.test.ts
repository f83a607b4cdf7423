import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { openBrowser, watchedPage, type Watched } from './chromium.ts';
import { causesViolations, INERT_PARSER } from './policy-violations.ts';
import { HOSTILE_MAIL } from './hostile-mail.ts';
import { PAYLOADS } from './payloads.ts';

causesViolations(INERT_PARSER);

let box: Box;
let base: string;
let browser: Browser;
let watched: Watched;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
});
beforeEach(async () => {
  watched = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  return () => watched.context.close();
});

async function deliver(mail: Parameters<ReturnType<typeof createTransport>['sendMail']>[0]): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await transport.sendMail({ to: box.address, from: 'Ada Lovelace <ada@example.test>', ...mail });
  transport.close();
}

async function signIn(page: Page): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(box.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
}

/** Waits until a conversation shows this text. Its row in the list shows the begin of it as well, before it is loaded. */
const opened = (page: Page, text: string): Promise<void> =>
  page.getByRole('region', { name: 'Conversation' }).getByText(text).first().waitFor();

const row = (page: Page, text: string) => page.locator('.row a', { hasText: text });

/** Violations of WCAG 2.2 AA that axe-core finds, by rule. */
async function violations(page: Page): Promise<string[]> {
  const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(source);
  const options = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], iframes: false };
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
  const { violations: all } = found as { violations: { id: string; nodes: { html: string }[] }[] };
  return all.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 120)}`);
}

describe('a person in web mail', () => {
  test('reads new mail as it arrives, answers it, and takes the answer back', async () => {
    const { page, wrong } = watched;
    await signIn(page);
    await deliver({ subject: 'About the loom', text: 'Does it weave?\n\nAda' });
    await row(page, 'About the loom').click();
    await opened(page, 'Does it weave?');
    await page.keyboard.press('r');
    await page.getByLabel('Message', { exact: true }).fill('It does.\n');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('dialog', { name: 'New message' }).waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toContain('It does.');
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toContain('ada@example.test');
    await page.getByRole('button', { name: 'Save draft and close' }).click();
    await page.getByRole('link', { name: /Drafts/ }).click();
    // The draft before this one is deleted after it.
    await expect.poll(() => row(page, 'Re: About the loom').count()).toBe(1);
    // The keys answer what was received, and not the draft of the answer.
    await page.getByRole('link', { name: /Inbox/ }).click();
    await row(page, 'About the loom').click();
    await opened(page, 'Does it weave?');
    await page.keyboard.press('r');
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toContain('> Does it weave?');
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).not.toContain('It does.');
    expect(wrong).toEqual([]);
  });

  test('sees mail that comes between the first list and the connection that reports changes', async () => {
    const { page, wrong } = watched;
    await deliver({ subject: 'Before the list', text: 'Here' });
    const firstRead = page.waitForResponse((response) => response.url().includes('/mail/jmap/first'));
    await page.route('**/mail.en.js', async (route) => {
      await (await firstRead).finished();
      await deliver({ subject: 'While the script loads', text: 'Late' });
      await route.continue();
    });
    await signIn(page);
    await row(page, 'While the script loads').waitFor();
    expect(wrong).toEqual([]);
  });

  test('loads the files of the application from the cache of a service worker at the second visit, and no mail', async () => {
    const { page, context, wrong } = watched;
    await deliver({ subject: 'Never on the disk', text: 'Here' });
    await signIn(page);
    await page.evaluate('navigator.serviceWorker.ready');
    const cached = await page.evaluate(`(async () => {
      const caches = await Promise.all((await window.caches.keys()).map((name) => window.caches.open(name)));
      const requests = await Promise.all(caches.map((cache) => cache.keys()));
      return requests.flat().map(({ url }) => new URL(url).pathname.replace(/^.mail.assets.[0-9a-f]{16}./, ''));
    })()`);
    expect((cached as string[]).toSorted()).toEqual(['calendar.js', 'lib/ical.js.js', 'mail.en.js', 'style.css']);
    const again = await context.newPage();
    await again.goto(`${base}/mail`);
    await row(again, 'Never on the disk').waitFor();
    const deliveryOf = (path: string): Promise<unknown> =>
      again.evaluate(`performance.getEntriesByType('resource').flatMap(({ name, deliveryType }) =>
        new URL(name).pathname.endsWith('${path}') ? [deliveryType] : [])`);
    expect(await deliveryOf('/mail.en.js')).toEqual(['cache-storage']);
    expect(await deliveryOf('/jmap/first')).toEqual(['']);
    expect(wrong).toEqual([]);
  });

  test('is shown a first list that one request reads, which begins before the script, and a script of one file', async () => {
    const { page, wrong } = watched;
    await deliver({ subject: 'First of the list', text: 'Here' });
    await signIn(page);
    await page.goto('about:blank');
    const queried: string[] = [];
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      queried.push(`${pathname.replace(/\/assets\/[0-9a-f]+/, '/assets')}${search} ${request.postData() ?? ''}`.trim());
    });
    await page.goto(`${base}/mail`);
    await row(page, 'First of the list').waitFor();
    const { hash } = new URL(page.url());
    expect(hash).toMatch(/^#\/f[0-9a-z]+$/);
    await expect.poll(() => queried.join()).toContain('/mail/parser');
    // Requests that are no part of the first list follow its painting.
    const before = queried.slice(
      0,
      queried.findIndex((one) => /\/(?:api|parser|eventsource)/.test(one)),
    );
    // A preload that the script does not take is queried again.
    const paths = [
      '/mail',
      '/mail/assets/mail.en.js',
      '/mail/assets/style.css',
      `/mail/jmap/first?folder=${hash.slice(2)}`,
    ];
    expect(before.filter((one) => !/manifest|icon/.test(one)).toSorted()).toEqual(paths);
    expect(queried.filter((one) => /Email\/query"|Mailbox\/get|Identity\/get|session|snoozed/.test(one))).toEqual([]);
    await page.goto(`${base}/mail#/settings`);
    await page.getByRole('link', { name: /Inbox/ }).click();
    await row(page, 'First of the list').waitFor();
    expect(wrong).toEqual([]);
  });

  test('writes to somebody of the box, who receives it with its file', async () => {
    const { page, wrong } = watched;
    await signIn(page);
    await page.getByRole('button', { name: 'Write' }).click();
    await page.getByLabel('To', { exact: true }).fill(box.address);
    await page.getByLabel('Subject').fill('A file for me');
    await page.getByLabel('Message', { exact: true }).fill('The file is attached.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('but none is there').waitFor();
    await page
      .locator('.composer footer input[type=file]')
      .setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('A note.') });
    await page.getByText('note.txt').waitFor();
    await page.locator('.composer progress').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Sent.').waitFor();
    await page.getByRole('link', { name: /Inbox/ }).click();
    // Held back for ten seconds, in which it could be taken back.
    await row(page, 'A file for me').waitFor({ timeout: 60_000 });
    await row(page, 'A file for me').click();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download note.txt' }).click();
    expect(readFileSync(await (await download).path(), 'utf8')).toBe('A note.');
    expect(wrong).toEqual([]);
  });

  test('keeps the last draft when a newer one is refused', async () => {
    const { page } = watched;
    const destroyed: string[] = [];
    await signIn(page);
    await page.getByRole('button', { name: 'Write' }).click();
    await page.getByLabel('Subject').fill('A long letter');
    const saved = page.waitForResponse((answer) => answer.request().postData()?.includes('First words.') === true);
    await page.getByLabel('Message', { exact: true }).fill('First words.');
    await saved;
    await page.route('**/mail/jmap/api', async (route) => {
      const body = route.request().postData() ?? '';
      if (body.includes('"destroy"')) destroyed.push(body);
      if (!body.includes('Second words.')) return route.continue();
      const refused = { notCreated: { draft: { type: 'overQuota', description: 'The mailbox is full' } } };
      return route.fulfill({ json: { methodResponses: [['Email/set', refused, '0']] } });
    });
    await page.getByLabel('Message', { exact: true }).fill('Second words.');
    await page.getByText('The draft was not saved: The mailbox is full').waitFor();
    expect(destroyed).toEqual([]);
    await page.unroute('**/mail/jmap/api');
    await page.goto(`${base}/mail`);
    await page.getByRole('link', { name: /Drafts/ }).click();
    await row(page, 'A long letter').click();
    await page.getByRole('textbox', { name: 'Message', exact: true }).getByText('First words.').waitFor();
  });

  test('archives a conversation by one key, and takes that back', async () => {
    const { page, wrong } = watched;
    await deliver({ subject: 'To be archived', text: 'Old news.' });
    await signIn(page);
    await row(page, 'To be archived').click();
    await opened(page, 'Old news.');
    await page.keyboard.press('e');
    await page.getByText('Moved to "Archive".').waitFor();
    await row(page, 'To be archived').waitFor({ state: 'detached' });
    await page.keyboard.press('z');
    await row(page, 'To be archived').waitFor();
    expect(wrong).toEqual([]);
  });

  test('acts by a key on the conversation that still loads, not on the one before it', async () => {
    const { page } = watched;
    await deliver({ subject: 'Stays in the inbox', text: 'Left alone.' });
    await deliver({ subject: 'Leaves the inbox', text: 'Two.' });
    await signIn(page);
    await row(page, 'Stays in the inbox').click();
    await opened(page, 'Left alone.');
    const gate = Promise.withResolvers<undefined>();
    await page.route('**/mail/jmap/api', async (request) => {
      if (request.request().postData()?.includes('bodyValues') === true) await gate.promise;
      await request.continue();
    });
    await row(page, 'Leaves the inbox').click();
    await page.locator('.row.current', { hasText: 'Leaves the inbox' }).waitFor();
    await page.keyboard.press('e');
    gate.resolve(undefined);
    await page.getByText('Moved to "Archive".').waitFor();
    await row(page, 'Leaves the inbox').waitFor({ state: 'detached' });
    await row(page, 'Stays in the inbox').waitFor();
  });

  test('takes an action back by the key after its notice has been closed', async () => {
    const { page } = watched;
    await deliver({ subject: 'Back again', text: 'Three.' });
    await signIn(page);
    await row(page, 'Back again').click();
    await page.keyboard.press('#');
    await page.getByRole('status').getByRole('button', { name: 'Close' }).click();
    await row(page, 'Back again').waitFor({ state: 'detached' });
    await page.keyboard.press('z');
    await row(page, 'Back again').waitFor();
  });

  test('finds a mail by its words and its sender', async () => {
    const { page, wrong } = watched;
    await deliver({ from: 'Grace <grace@navy.example>', subject: 'Compiler notes', text: 'About subroutines.' });
    await signIn(page);
    await page.keyboard.press('/');
    await page.getByLabel('Search mail').fill('from:grace subroutines');
    await page.keyboard.press('Enter');
    await row(page, 'Compiler notes').waitFor();
    await page.getByText('1 conversation').waitFor();
    expect(wrong).toEqual([]);
  });

  test('sees in words why a message is where it is', async () => {
    const { page } = watched;
    await deliver({ subject: 'Who wrote this', text: 'Guess.' });
    await signIn(page);
    await row(page, 'Who wrote this').click();
    await page.getByText('The author of this message is not confirmed.').click();
    await page.getByText("The author's address is not confirmed by its domain.").waitFor();
  });

  test.each([
    ['desktop, light', 1280, 'light'],
    ['desktop, dark', 1280, 'dark'],
    ['phone, light', 390, 'light'],
    ['phone, dark', 390, 'dark'],
  ] as const)('finds everything accessible: %s', async (_name, width, colorScheme) => {
    await deliver({
      subject: 'Accessible',
      text: 'Text.\n> quoted',
      html: '<p>Text with <a href="https://x.test">a link</a>.</p>',
    });
    const own = await watchedPage(browser, base, { viewport: { width, height: 844 }, colorScheme });
    const { page, wrong } = own;
    await signIn(page);
    await row(page, 'Accessible').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await row(page, 'Accessible').first().click();
    await page.locator('iframe.message-frame').waitFor();
    await page.getByRole('button', { name: 'Reply', exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await page.getByRole('dialog', { name: 'New message' }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(wrong).toEqual([]);
    await own.context.close();
  });
});

/** Ids of the threads of hostile mail, wherever the filter filed them. */
async function hostileThreads(page: Page): Promise<string[]> {
  const found = await page.evaluate(`(async () => {
    const { accounts } = await (await fetch('/mail/jmap/session')).json();
    const accountId = Object.keys(accounts)[0];
    const query = { accountId, filter: { subject: 'hostile' }, limit: 1000 };
    const ids = { resultOf: '0', name: 'Email/query', path: '/ids' };
    const using = ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail'];
    const methodCalls = [['Email/query', query, '0'], ['Email/get', { accountId, '#ids': ids, properties: ['threadId'] }, '1']];
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ using, methodCalls }) };
    const { methodResponses } = await (await fetch('/mail/jmap/api', init)).json();
    return methodResponses[1][1].list.map((one) => one.threadId);
  })()`);
  return [...new Set(found as string[])];
}

describe('hostile mail', () => {
  test('runs nothing, loads nothing and submits nothing, in its body, its subject or its names', async () => {
    const { page, wrong } = watched;
    await signIn(page);
    for (const [i, body] of HOSTILE_MAIL.entries()) {
      const name = PAYLOADS[i % PAYLOADS.length] ?? '';
      const file = { filename: `${name.replaceAll('/', '_')}.html`, content: body, contentType: 'text/html' };
      await deliver({
        subject: `Hostile ${i} ${name}`,
        from: { name, address: `h${i}@evil.test` },
        html: body,
        ...(i % 10 === 0 && { attachments: [file] }),
      });
    }
    const threads = await hostileThreads(page);
    expect(threads.length).toBe(HOSTILE_MAIL.length);
    for (const id of threads) {
      await page.evaluate(`location.hash = '#/search/hostile/${id}'`);
      await page.locator(`.thread[data-thread-id="${id}"]`).waitFor();
      await page.frameLocator('iframe.message-frame').last().locator('body > div').waitFor({ state: 'attached' });
    }
    expect(wrong.filter((one) => !INERT_PARSER.test(one))).toEqual([]);
    expect(page.url().startsWith(`${base}/mail`)).toBe(true);
  }, 300_000);
});
