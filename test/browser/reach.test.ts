import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PAGES } from '../../src/portal/pages/index.ts';
import { http } from '../support/mcp.ts';
import { authorizePath, pkce, registered, wish } from '../support/oauth.ts';
import { violations } from './axe.ts';
import { openBrowser, signedInAs, watchedPage } from './chromium.ts';
import { startDemo, type Demo } from './shots/demo.ts';

let demo: Demo;
let browser: Browser;
/** Paths before signing in, with their status; a link that is not valid is 404. */
let endpoints: [string, number][];

beforeAll(async () => {
  demo = await startDemo();
  browser = await openBrowser();
  const json = { 'content-type': 'application/json' };
  const input = JSON.stringify({ ownerEmail: 'new@example.test', organizationName: 'New' });
  const made = await http('POST', `${demo.base}/api/tools/create_account_and_claim_link`, json, input);
  const claim = new URL(String(made.json?.['claimUrl']));
  endpoints = [
    [claim.pathname + claim.search, 200],
    ['/auth/reset', 200],
    ['/login', 200],
    ['/mail/sign-in', 200],
    ...['/auth/setup', '/auth/reset', '/auth/invite', '/approve'].map((path): [string, number] => [
      `${path}?token=x`,
      404,
    ]),
  ];
});
afterAll(async () => {
  await browser?.close();
  await demo?.[Symbol.asyncDispose]();
});

/** Pages of the operator with ids of things that exist; those of what the demo has none of are left to other tests. */
function operatorPages(): string[] {
  return PAGES.map(({ path }) => path)
    .map((path) => path.replace(':id', demo.ids[path.split('/')[1] ?? ''] ?? ':id'))
    .filter((path) => !path.includes(':id'));
}

const WIDER = 'document.documentElement.scrollWidth - innerWidth';
/** 1280 by 860 at 200 %. */
const ZOOMED = { viewport: { width: 640, height: 430 } };

/** Faults of a page: the status, the width, and what axe-core finds. */
async function faults(page: Page, path: string, status = 200): Promise<string[]> {
  // Pages that follow the server never end to load.
  const answer = await page.goto(`${demo.base}${path}`, { waitUntil: 'domcontentloaded' });
  const wider = Number(await page.evaluate(WIDER));
  const found = [...(wider > 0 ? [`${wider} pixels too wide`] : []), ...(await violations(page))];
  if ((answer?.status() === 404) !== (status === 404)) found.push(`status ${answer?.status()}`);
  return found.map((one) => `${path}: ${one}`);
}

describe.each(['light', 'dark'] as const)('at 200 percent, %s', (colorScheme) => {
  test('pages of the operator are accessible and not wider than the screen', async () => {
    const watched = await watchedPage(browser, demo.base, { ...ZOOMED, colorScheme });
    await signedInAs(watched, demo.base, demo.secret);
    const paths = operatorPages();
    expect(paths).toEqual(expect.arrayContaining([expect.stringMatching(/^\/services\/./)]));
    const found: string[] = [];
    for (const path of paths) found.push(...(await faults(watched.page, `${demo.path}${path}`)));
    expect(found).toEqual([]);
    await watched.context.close();
  }, 240_000);

  test('pages before signing in, and the consent page, are as well', async () => {
    const watched = await watchedPage(browser, demo.base, { ...ZOOMED, colorScheme });
    const found: string[] = [];
    for (const [path, status] of endpoints) found.push(...(await faults(watched.page, path, status)));
    const client = await registered(demo.base, { client_name: 'Mail helper' });
    await signedInAs(watched, demo.base, demo.secret);
    found.push(...(await faults(watched.page, authorizePath(wish(client, pkce().challenge)))));
    await watched.page.getByRole('heading', { name: 'Allow access?' }).waitFor();
    expect(found).toEqual([]);
    await watched.context.close();
  }, 240_000);
});

test.each(['/login', '/mail/sign-in'])('nothing moves for who asked for reduced motion: %s', async (path) => {
  const moving = `[...document.querySelectorAll('*')].filter((one) => {
    const { transitionDuration, animationName } = getComputedStyle(one);
    return animationName !== 'none' || transitionDuration.split(', ').some((time) => time !== '0s');
  }).length`;
  const counts: number[] = [];
  for (const reducedMotion of ['reduce', 'no-preference'] as const) {
    const { page, context } = await watchedPage(browser, demo.base, { reducedMotion });
    await page.goto(`${demo.base}${path}`);
    counts.push(Number(await page.evaluate(moving)));
    await context.close();
  }
  expect([counts[0], (counts[1] ?? 0) > 0]).toEqual([0, true]);
});
