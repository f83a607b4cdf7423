import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { openBrowser, watchedPage } from './chromium.ts';
import { causesViolations, INERT_PARSER } from './policy-violations.ts';
import { HOSTILE_CORPUS, type HostileMessage } from './hostile-corpus.ts';

causesViolations(INERT_PARSER);

/** Messages of one conversation, which web mail shows at once as they are unread. */
const GROUP = 50;
const CONNECTIONS = 4;

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

async function deliverCorpus(): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: box.port('smtp'),
    ignoreTLS: true,
    pool: true,
    maxConnections: CONNECTIONS,
    maxMessages: Infinity,
  });
  // The first of each conversation exists before the others refer to it.
  const all = [...HOSTILE_CORPUS.keys()];
  const roots = all.filter((at) => at % GROUP === 0);
  await Promise.all(roots.map((at) => transport.sendMail(mailOf(at))));
  const others = all.filter((at) => at % GROUP !== 0);
  await Promise.all(others.map((at) => transport.sendMail(mailOf(at))));
  transport.close();
}

function mailOf(at: number): Parameters<ReturnType<typeof createTransport>['sendMail']>[0] {
  const { html, name } = HOSTILE_CORPUS[at] as HostileMessage;
  const root = `<${at - (at % GROUP)}@evil.test>`;
  const filename = name.replaceAll(/[/\0]/g, '_');
  return {
    to: box.address,
    from: { name, address: `h${at}@evil.test` },
    subject: at % GROUP === 0 ? `corpus ${at / GROUP}` : `Re: corpus ${Math.floor(at / GROUP)}`,
    messageId: `<${at}@evil.test>`,
    ...(at % GROUP !== 0 && { inReplyTo: root, references: root }),
    html,
    ...(at % 10 === 0 && { attachments: [{ filename, content: html, contentType: 'text/html' }] }),
  };
}

async function signIn(page: Page): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(box.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
}

/** Conversations of the corpus, wherever the filter filed their messages, with how many messages each has. */
async function corpusThreads(page: Page): Promise<{ id: string; size: number }[]> {
  return (await page.evaluate(`(async () => {
    const { accounts } = await (await fetch('/mail/jmap/session')).json();
    const accountId = Object.keys(accounts)[0];
    const using = ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail'];
    const methodCalls = [
      ['Email/query', { accountId, filter: { subject: 'corpus' }, collapseThreads: true, limit: 1000 }, '0'],
      ['Email/get', { accountId, '#ids': { resultOf: '0', name: 'Email/query', path: '/ids' }, properties: ['threadId'] }, '1'],
      ['Thread/get', { accountId, '#ids': { resultOf: '1', name: 'Email/get', path: '/list/*/threadId' } }, '2'],
    ];
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ using, methodCalls }) };
    const { methodResponses } = await (await fetch('/mail/jmap/api', init)).json();
    return methodResponses[2][1].list.map((one) => ({ id: one.id, size: one.emailIds.length }));
  })()`)) as { id: string; size: number }[];
}

/** Opened addresses are recorded instead: what a click on each link did. */
const RECORD_OPEN = `window.opened = []; window.open = (url) => { window.opened.push(String(url)); return null; };`;

/** Clicks everything in the frames that may lead somewhere; returns what was opened and each link that shows no target. */
const CLICK_ALL = `(() => {
  const result = { links: 0, opened: [], asked: 0, unlabeled: [] };
  for (const frame of document.querySelectorAll('iframe.message-frame')) {
    for (const element of frame.contentDocument.querySelectorAll('a, area, button, input, form, [tabindex], [onclick], svg a')) {
      window.opened.length = 0;
      element.dispatchEvent(new frame.contentWindow.MouseEvent('click', { bubbles: true, cancelable: true }));
      if (!element.hasAttribute('href')) continue;
      result.links += 1;
      const href = element.getAttribute('href');
      if (element.getAttribute('title') !== href.slice(0, 300)) result.unlabeled.push(href);
      for (const url of window.opened) result.opened.push({ url, text: element.textContent.trim() });
    }
  }
  return result;
})()`;

/** Number of messages that are shown. */
const SHOWN_FRAMES = `[...document.querySelectorAll('iframe.message-frame')].filter((one) => one.contentDocument?.body?.firstElementChild).length`;

interface Clicked {
  links: number;
  opened: { url: string; text: string }[];
  unlabeled: string[];
}

/** Paths that web mail loads itself. Images of others go through /mail/image, and only when asked for. */
const OWN_LOADS =
  /^\/mail(?:$|\/(?:frame|parser|service-worker\.js|manifest\.webmanifest|icon\.svg|sign-in|snoozed|assets\/.*|jmap\/.*|agents\/t[0-9a-z]+))/;

test('1,000 hostile messages run nothing, load nothing, and lead nowhere unseen', async () => {
  const { page, wrong, context } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  const loads: string[] = [];
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol === 'http:' && !OWN_LOADS.test(url.pathname)) loads.push(url.pathname + url.search);
  });
  await page.addInitScript(RECORD_OPEN);
  await deliverCorpus();
  await signIn(page);
  // The page for signing in has the portal's style.
  loads.length = 0;
  const threads = await corpusThreads(page);
  expect(threads.reduce((sum, { size }) => sum + size, 0)).toBe(HOSTILE_CORPUS.length);
  let links = 0;
  for (const { id, size } of threads) {
    await page.evaluate(`location.hash = '#/search/corpus/${id}'`);
    await page.locator(`.thread[data-thread-id="${id}"]`).waitFor();
    await expect.poll(() => page.evaluate(SHOWN_FRAMES)).toBe(size);
    const clicked = (await page.evaluate(CLICK_ALL)) as Clicked;
    links += clicked.links;
    expect(clicked.unlabeled).toEqual([]);
    expect(clicked.opened.filter(({ url }) => !/^https?:\/\/evil\.test\//.test(url))).toEqual([]);
    // The attacks name their target "x", or the bank that they are not.
    expect(clicked.opened.filter(({ text }) => /[^ -~]|bank|knab|example/.test(text))).toEqual([]);
  }
  expect(links).toBeGreaterThan(50);
  expect(wrong.filter((one) => !INERT_PARSER.test(one))).toEqual([]);
  expect(loads).toEqual([]);
  expect(page.url().startsWith(`${base}/mail`)).toBe(true);
  await context.close();
}, 300_000);
