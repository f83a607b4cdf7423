import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LANGUAGES, type PageLanguage } from '../../src/http/language.ts';
import type { PortalCatalog, PortalKey } from '../../src/portal/message-types.ts';
import { PORTAL_CATALOGS } from '../../src/portal/translator.ts';
import { type Box, startBox } from '../support/box.ts';
import { tool } from '../support/mcp.ts';
import { operatorOf, ownedOrganization, type Owned, type Visitor } from '../support/visitor.ts';
import { violations } from './axe.ts';
import { openBrowser, signedInAs, watchedPage } from './chromium.ts';

let box: Box;
let base: string;
let browser: Browser;
let owned: Owned;
let operator: Visitor;
/** An organization whose domain is not set up. */
let begun: Owned;
let claimUrl: string;
let mailboxId: string;
/** A verified domain, and one that is not. */
let domainIds: string[];
let serviceId: string;
let webhookId: string;
let queued: { queueId: string; messageId: string };

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
  operator = await operatorOf(box);
  owned = await ownedOrganization(base, 'Weberei', 'owner@example.test');
  const names = ['weberei.test', 'tuch.test'];
  const added = [];
  for (const domain of names) added.push((await tool(base, 'add_email_domain', { domain }, owned.token)).body);
  domainIds = added.map((body) => (body['domain'] as { id: string }).id);
  await tool(base, 'verify_email_domain', { domain: 'weberei.test' }, owned.token);
  const made = await tool(base, 'provision_email', { domain: 'weberei.test', localPart: 'anna' }, owned.token);
  mailboxId = (made.body['mailbox'] as { id: string }).id;
  const url = 'https://hooks.weberei.test/mail';
  for (const [name, input] of [
    ['create_alias', { mailboxIds: [mailboxId], localPart: 'info', domain: 'weberei.test' }],
    ['add_sender_rule', { mailboxId, kind: 'block', pattern: 'loud.test' }],
    ['create_app_password', { mailboxId, name: 'Phone', scopes: ['imap'], readOnly: true, person: true }],
    ['set_email_inbound_webhook', { mailboxId, url }],
  ] as const) {
    await tool(base, name, input, owned.token);
  }
  const service = await tool(base, 'create_service', { name: 'shop' }, owned.token);
  serviceId = (service.body['service'] as { id: string }).id;
  await tool(base, 'create_email_api_key', { name: 'Shop' }, owned.token);
  const events = { url: 'https://hooks.weberei.test/events', events: ['email.bounced'] };
  const webhook = await tool(base, 'create_webhook', events, owned.token);
  webhookId = (webhook.body['webhook'] as { id: string }).id;
  begun = await ownedOrganization(base, 'Stoff', 'stoff@example.test');
  await tool(base, 'add_email_domain', { domain: 'stoff.test' }, begun.token);
  const letter = { from: 'anna@weberei.test', to: ['ada@remote.example'], subject: 'Offer', text: 'Hello' };
  await tool(base, 'send_email', letter, owned.token);
  const { body } = await tool(base, 'list_queue', {}, owned.token);
  [queued = expect.fail('nothing is queued')] = body['items'] as (typeof queued)[];
  for (const [name, input] of [
    ['add_suppression', { address: 'gone@remote.example' }],
    ['set_email_forwarder', { sourceAddress: 'office@weberei.test', destinationAddress: 'ada@remote.example' }],
    ['invite_member', { email: 'kim@remote.example', role: 'member' }],
  ] as const) {
    const { status, text } = await tool(base, name, input, owned.token);
    expect(status, `${name}: ${text}`).toBeLessThan(300);
  }
  const canary = { label: 'Console', kind: 'message', story: 'console' };
  await owned.owner.act(`${owned.path}/mailboxes/${mailboxId}/canaries`, 'plant', canary);
  await owned.owner.act(`${owned.path}/agent-policies`, 'make', { name: 'Support', preset: 'support-desk' });
  const claim = { ownerEmail: 'new@example.test', organizationName: 'Tejidos' };
  claimUrl = String((await tool(base, 'create_account_and_claim_link', claim)).body['claimUrl']);
});
afterAll(async () => {
  await browser?.close();
  await box?.[Symbol.asyncDispose]();
});

const textsOf = (message: PortalCatalog[PortalKey]): string[] =>
  typeof message === 'string' ? [message] : Object.values(message);
/** Texts of a message between its values, as they stand in a page. */
const pieces = (message: PortalCatalog[PortalKey]): string[] =>
  textsOf(message)
    .flatMap((text) => text.split(/\{\w+\}/))
    .map((text) => text.trim())
    .filter((text) => /\p{L}{2}/u.test(text));

/** Pieces of English messages that are no words of the language too. */
function englishOnly(language: PageLanguage): Set<string> {
  const own = new Set(Object.values(PORTAL_CATALOGS[language]).flatMap(pieces));
  return new Set(
    Object.values(PORTAL_CATALOGS.en)
      .flatMap(pieces)
      .filter((text) => !own.has(text)),
  );
}

/** Texts of a page, attributes that are read out too, that it does not mark as English. */
const TEXTS = `(() => {
  const found = [];
  const mine = (element) => !(element.closest('[lang]')?.lang === 'en');
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, data } = walker.currentNode;
    if (mine(parentElement) && !parentElement.matches('script, style')) found.push(data.trim().replace(/\\s+/g, ' '));
  }
  for (const element of document.querySelectorAll('[aria-label], [placeholder], [title], [data-label]')) {
    if (!mine(element)) continue;
    for (const name of ['aria-label', 'placeholder', 'title', 'data-label']) found.push(element.getAttribute(name) ?? '');
  }
  return found;
})()`;

async function expectTranslated(page: Page, language: PageLanguage): Promise<void> {
  expect(await page.locator('html').getAttribute('lang')).toBe(language);
  const english = englishOnly(language);
  const texts = (await page.evaluate(TEXTS)) as string[];
  expect(texts.length).toBeGreaterThan(5);
  expect([page.url(), texts.filter((text) => english.has(text))]).toEqual([page.url(), []]);
}

/** Imports a row and sees why others are refused: each step speaks the language. */
async function importsRows(page: Page, language: PageLanguage): Promise<void> {
  const words = PORTAL_CATALOGS[language];
  await page.goto(`${base}${owned.path}/mailboxes/import`);
  await expectTranslated(page, language);
  await page.locator('#csv').fill(`${language}@weberei.test,Kim\nanna@weberei.test\nno address`);
  await page.getByRole('button', { name: words['csv.preview'] }).click();
  await page.getByText(words['csv-row.mailbox']).waitFor();
  await expectTranslated(page, language);
  await page.locator('.preview button').click();
  await page.getByRole('link', { name: words['csv.all'] }).waitFor();
  await expectTranslated(page, language);
}

const WORDS = [
  {
    locale: 'de-AT',
    language: 'de',
    signIn: 'Anmelden',
    signOut: 'Abmelden',
    account: 'Ihr Konto',
    overview: 'Übersicht',
  },
  {
    locale: 'es-MX',
    language: 'es',
    signIn: 'Iniciar sesión',
    signOut: 'Cerrar sesión',
    account: 'Su cuenta',
    overview: 'Resumen',
  },
] as const;

describe.each(WORDS)('the portal in $language', ({ locale, language, signIn, signOut, account, overview }) => {
  test('meets strangers in their language', async () => {
    const { page, context, wrong } = await watchedPage(browser, base, { locale });
    for (const path of [
      '/login',
      '/auth/reset',
      '/',
      '/billing',
      '/auth/invite?token=x',
      '/auth/device',
      '/unsubscribe/x',
    ]) {
      await page.goto(`${base}${path}`);
      await expectTranslated(page, language);
    }
    await page.goto(claimUrl);
    await expectTranslated(page, language);
    expect(await violations(page)).toEqual([]);
    await page.goto(`${base}/login`);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: signIn, exact: true }).waitFor();
    // Pages that are not there are an error to the console, and rightly so.
    expect(wrong.filter((one) => !/40[49]|410/.test(one))).toEqual([]);
    await context.close();
  });

  test('sets up a domain in their language', async () => {
    const watched = await watchedPage(browser, base, { locale });
    await signedInAs(watched, base, begun.owner.secret);
    await watched.page.goto(`${base}${begun.path}/setup`);
    await watched.page.getByText(PORTAL_CATALOGS[language]['dns-way.hand'], { exact: true }).waitFor();
    await expectTranslated(watched.page, language);
    expect(await violations(watched.page)).toEqual([]);
    expect(watched.wrong).toEqual([]);
    await watched.context.close();
  });

  test('keeps its word in the pages of a person', async () => {
    const watched = await watchedPage(browser, base, { locale });
    const { page, context, wrong } = watched;
    await signedInAs(watched, base, owned.owner.secret);
    for (const path of ['/account', '/account/security', '/account/apps']) {
      await page.goto(`${base}${path}`);
      await expectTranslated(page, language);
    }
    await page.goto(`${base}/account`);
    await page.getByRole('heading', { name: account }).waitFor();
    expect(await violations(page)).toEqual([]);
    const mailbox = `/mailboxes/${mailboxId}`;
    const names = ['', '/access', '/addresses', '/connections', '/junk', '/quarantine', '/deleted', '/canaries'];
    const tabs = names.map((tab) => `${mailbox}${tab}`);
    const domains = domainIds.flatMap((id) => [`/domains/${id}`, `/domains/${id}/reports`]);
    const pages = ['', '/domains', ...domains, '/setup', '/mailboxes', '/outbox', '/junk'];
    pages.push('/queue', `/queue/${queued.queueId}`, '/trace', `/trace?q=${queued.messageId}`, '/trace?q=none');
    pages.push('/tokens', '/api-keys', '/webhooks', `/webhooks/${webhookId}`, '/proposals');
    pages.push(
      '/members',
      '/suppressions',
      '/forwarding',
      '/settings',
      '/agents',
      '/agent-policies',
      '/retention',
      '/routes',
      '/imports',
    );
    pages.push('/services', `/services/${serviceId}`, '/audit?verify');
    for (const path of [...pages, '/find?q=anna', ...tabs]) {
      await page.goto(`${base}${owned.path}${path}`);
      await expectTranslated(page, language);
      expect(await page.locator('main').getAttribute('lang')).toBe(null);
    }
    await page.goto(`${base}${owned.path}${mailbox}/access`);
    await page.getByRole('button', { name: PORTAL_CATALOGS[language]['access.show-password'] }).click();
    await page.locator('.secret').waitFor();
    await expectTranslated(page, language);
    await page.goto(`${base}${owned.path}`);
    expect(await violations(page)).toEqual([]);
    await importsRows(page, language);
    expect(wrong).toEqual([]);
    await context.close();
  });

  test('keeps its word in the pages of the operator, and marks what is English', async () => {
    const watched = await watchedPage(browser, base, { locale });
    const { page, context, wrong } = watched;
    await signedInAs(watched, base, operator.secret);
    await operator.act('/o/org_1/health', 'check');
    for (const path of ['/backups', '/organizations', '/bans', '/log?level=error', '/log', '/health']) {
      await page.goto(`${base}/o/org_1${path}`);
      await expectTranslated(page, language);
      expect(await page.locator('main').getAttribute('lang')).toBe(null);
    }
    await page.locator('main [lang="en"]').first().waitFor();
    await page.getByRole('link', { name: overview, exact: true }).waitFor();
    await page.getByRole('button', { name: signOut }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(wrong).toEqual([]);
    await context.close();
  });
});

test('a language is chosen in the footer, for web mail too, and given up there', async () => {
  const { page, context } = await watchedPage(browser, base, { locale: 'en-US' });
  await page.goto(`${base}/login?next=/account`);
  await page.getByRole('link', { name: 'Deutsch' }).click();
  await page.waitForURL(`${base}/login?next=/account`);
  await page.getByRole('heading', { name: 'Anmelden' }).waitFor();
  await page.goto(`${base}/mail/sign-in`);
  await page.getByRole('heading', { name: 'Postfach öffnen' }).waitFor();
  await page.getByRole('link', { name: 'Sprache des Browsers' }).click();
  await page.getByRole('heading', { name: 'Open your mail' }).waitFor();
  expect(await page.locator('.languages').getByRole('listitem').allTextContents()).toHaveLength(LANGUAGES.length);
  await context.close();
});
