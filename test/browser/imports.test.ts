import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { scriptedFolders } from '../support/scripted-folders.ts';
import { operatorOf, type Visitor } from '../support/visitor.ts';
import { violations } from './axe.ts';
import { openBrowser, signedInAs, type Watched, watchedPage } from './chromium.ts';

let box: Box;
let base: string;
let browser: Browser;
let owner: Visitor;
beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  owner = await operatorOf(box);
  browser = await openBrowser();
}, 300_000);
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
});

/** Another server with four folders of ten messages, which sends each folder's messages once a test lets it. */
async function heldServer() {
  const held: (() => void)[] = [];
  const server = await scriptedFolders(
    { INBOX: 10, Work: 10, Bills: 10, Old: 10 },
    (command, _socket, _tag, answer) => {
      if (!command.startsWith('UID FETCH')) return false;
      held.push(answer);
      return true;
    },
  );
  const isHolding = (): boolean => held.length > 0;
  return {
    port: server.port,
    /** Waits until the messages of a folder are asked for, and sends them. */
    async release(): Promise<void> {
      await expect.poll(isHolding).toBe(true);
      held.shift()?.();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function startPull(port: number): Promise<unknown> {
  const imap = { host: '127.0.0.1', port, user: 'ann', password: 'x', tls: 'none' };
  return box.ask('import_imap', { address: box.address, imap });
}

test('a person watches an import from its start to its proof, while a form keeps what was typed', async () => {
  await using server = await heldServer();
  const watched = await watchedPage(browser, base);
  const { page, context, wrong } = watched;
  await signedInAs(watched, base, owner.secret);
  await page.goto(`${base}/o/org_1/imports`);
  await page.getByText('No imports').waitFor();
  await startPull(server.port);
  await page.reload();

  const row = page.getByRole('row', { name: 'ann at 127.0.0.1' });
  const bar = page.getByRole('progressbar', { name: 'Progress of ann at 127.0.0.1' });
  const value = (): Promise<string | null> => bar.getAttribute('value');
  await bar.waitFor();
  expect(await bar.getAttribute('max')).toBe('40');
  await expect.poll(value).toBe('0');
  await row.getByText('Running').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.evaluate('window.isSamePage = true');
  await page.locator('summary', { hasText: 'Pull from another server' }).click();
  await page.getByLabel('User name').fill('half a na');

  for (const done of [10, 20, 30]) {
    await server.release();
    await expect.poll(value).toBe(String(done));
    await row.getByText(`${done} of 40`).waitFor();
  }
  await server.release();
  await row.getByText('Done').waitFor();
  await page.getByText('Proof: both sides are equal.').waitFor();
  const proof = page.getByRole('table', { name: 'Proof' });
  expect(await proof.getByText('Equal', { exact: true }).count()).toBe(4);
  expect(await bar.count()).toBe(0);
  // Times of what was fetched later are in the reader's zone, too.
  expect(await page.locator('time[data-local]').count()).toBe(0);

  expect(await page.evaluate('window.isSamePage')).toBe(true);
  expect(await page.getByLabel('User name').inputValue()).toBe('half a na');
  expect(await page.locator('[data-live-section]').count()).toBe(0);
  expect(await violations(page)).toEqual([]);
  expect(wrong).toEqual([]);
  await context.close();
});

/** Moves the last use of all sessions so far back that the next use is recorded. */
function ageSessions(): number {
  using db = new DatabaseSync(join(box.dataDir, 'mailstead.db'), { timeout: 30_000 });
  db.prepare('UPDATE session SET last_used_at = last_used_at - 120000').run();
  return lastUse();
}

function lastUse(): number {
  using db = new DatabaseSync(join(box.dataDir, 'mailstead.db'), { readOnly: true });
  return Number(db.prepare('SELECT max(last_used_at) AS at FROM session').get()?.['at']);
}

test('a page that nobody looks at does not keep its session from the idle timeout', async () => {
  await using server = await heldServer();
  await startPull(server.port);
  const watched = await watchedPage(browser, base);
  const { page, context } = watched;
  await signedInAs(watched, base, owner.secret);
  await page.goto(`${base}/o/org_1/imports`);
  await page.locator('[data-live-section]').waitFor({ state: 'attached' });
  const before = ageSessions();
  for (let n = 0; n < 2; n++) {
    await page.waitForResponse((one) => one.request().headers()['x-page-refresh'] !== undefined);
  }
  expect(lastUse()).toBe(before);
  await page.reload();
  expect(lastUse()).toBeGreaterThan(before);
  await context.close();
});

test('without script the page says how to see the progress', async () => {
  await using server = await heldServer();
  await startPull(server.port);
  const watched = await watchedPage(browser, base, { javaScriptEnabled: false });
  await signedInAs(watched, base, owner.secret);
  await watched.page.goto(`${base}/o/org_1/imports`);
  await watched.page.getByText('Reload this page for the present state.').waitFor();
  expect(await watched.page.locator('summary', { hasText: 'Upload a file' }).isVisible()).toBe(false);
  await watched.page.locator('summary', { hasText: 'From a terminal' }).click();
  await watched.page.locator('#upload-address').fill(box.address);
  await watched.page.getByRole('button', { name: 'Create upload URL' }).click();
  expect(await watched.page.getByRole('status').getByLabel('URL').textContent()).toContain('/api/email/transfers?');
  await watched.context.close();
});

/** An mbox file with as many messages. */
function mboxOf(count: number, text: string): Buffer {
  const one = (n: number): string =>
    `From ann@a.example Mon Nov 23 08:00:00 2026\nSubject: uploaded ${n}\n\n${text} ${n}\n\n`;
  return Buffer.from(Array.from({ length: count }, (_, n) => one(n)).join(''));
}

interface OpenUpload {
  watched: Watched;
  page: Page;
  row: Locator;
  /** Chooses a file, and imports it. */
  send: (buffer: Buffer) => Promise<void>;
}

/** The page of imports, with the form for a file of this name filled in. */
async function openUpload(name: string): Promise<OpenUpload> {
  const watched = await watchedPage(browser, base);
  const { page } = watched;
  await signedInAs(watched, base, owner.secret);
  await page.goto(`${base}/o/org_1/imports`);
  await page.locator('summary', { hasText: 'Upload a file' }).click();
  await page.locator('#file-address').fill(box.address);
  return {
    watched,
    page,
    row: page.getByRole('row', { name }),
    send: async (buffer) => {
      await page.getByLabel('File', { exact: true }).setInputFiles({ name, mimeType: 'application/mbox', buffer });
      await page.getByRole('button', { name: 'Import', exact: true }).click();
    },
  };
}

/** Messages of a folder. */
function messagesIn(folder: string): number {
  using db = new DatabaseSync(join(box.dataDir, 'mailstead.db'), { readOnly: true });
  const count = db.prepare('SELECT count(*) AS n FROM entry e JOIN mailbox m ON m.id = e.mailbox_id WHERE m.name = ?');
  return Number(count.get(folder)?.['n']);
}

test('a person uploads an mbox file in parts by the keyboard, and watches it to its counts', async () => {
  const { watched, page, row } = await openUpload('All mail.mbox');
  const large = mboxOf(3, 'x'.repeat(72).concat('\n').repeat(78_000));
  const ranges: string[] = [];
  let letThrough = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => (letThrough = resolve));
  await page.route('**/api/email/transfers?*', async (route) => {
    ranges.push(String(route.request().headers()['content-range']));
    if (ranges.length === 2) await isHeld;
    await route.continue();
  });
  expect(await page.locator('#file-folder').inputValue()).toBe('Imported');
  await page.locator('#mail-file').setInputFiles({ name: 'All mail.mbox', mimeType: '', buffer: large });
  await page.locator('#file-folder').fill('Old mail');
  await page.locator('#file-folder').press('Enter');

  const bar = page.getByRole('progressbar', { name: 'Upload' });
  await bar.waitFor();
  await page.getByRole('status').getByText('Uploading All mail.mbox: 90 % of 17 MB.').waitFor();
  await row.getByText('Waiting for upload').waitFor();
  expect(await violations(page)).toEqual([]);
  letThrough();
  await page.getByText('Uploaded All mail.mbox. The import runs').waitFor();
  await row.getByText('Done').waitFor();
  expect(await row.getByRole('cell').allTextContents()).toMatchObject({
    2: expect.stringMatching(/^3, 17\.\d MB$/),
    4: '0',
  });
  expect(messagesIn('Old mail')).toBe(3);
  const half = 16 * 1024 * 1024;
  expect(ranges).toEqual([`bytes 0-${half - 1}/${large.length}`, `bytes ${half}-${large.length - 1}/${large.length}`]);
  expect(await bar.isVisible()).toBe(false);
  expect(await violations(page)).toEqual([]);
  expect(watched.wrong).toEqual([]);
  await watched.context.close();
});

test('an upload goes on after its connection was lost, and after a person stopped it', async () => {
  const { watched, page, row, send } = await openUpload('cut.mbox');
  let left = 2;
  let isStopped = false;
  await page.route('**/api/email/transfers?*', async (route) => {
    if (left-- > 0) return route.abort('connectionreset');
    if (isStopped) return route.continue();
    isStopped = true;
    await page.getByRole('button', { name: 'Stop' }).click();
    return route.abort().catch(() => undefined);
  });
  await send(mboxOf(4, 'cut'));
  await page.getByRole('alert').getByText('Upload stopped. Select Import to go on').waitFor();
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await row.getByText('Done').waitFor();
  expect(await row.count()).toBe(1);
  expect(messagesIn('Imported')).toBe(4);
  await watched.context.close();
});

test('a file that is no mail is not uploaded, and each refusal says what to do', async () => {
  const { watched, page, send } = await openUpload('picture.mbox');
  const alert = page.locator('[data-mail-upload] [role="alert"]');
  await send(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]));
  await alert.getByText('picture.mbox is not a file of mail. Choose an mbox or EML file').waitFor();
  await send(Buffer.from('\x1f\x8b\b and more', 'latin1'));
  await alert.getByText('is compressed with gzip. Unpack it').waitFor();
  await send(Buffer.alloc(0));
  await alert.getByText('picture.mbox is empty. Choose another file.').waitFor();
  await page.locator('#file-address').fill('nobody@box.test');
  await send(mboxOf(1, 'x'));
  await alert.getByText(/mailbox/i).waitFor();
  expect(await page.getByRole('row', { name: 'picture.mbox' }).count()).toBe(0);

  await page.locator('#file-address').fill(box.address);
  const message = 'The disk has room for 5 MB more of uploads. Import parts one after the other.';
  await page.route('**/api/email/transfers?*', (route) => route.fulfill({ status: 413, json: { message } }));
  await send(mboxOf(1, 'x'));
  await alert.getByText(message).waitFor();
  expect(await violations(page)).toEqual([]);
  await watched.context.close();
});
