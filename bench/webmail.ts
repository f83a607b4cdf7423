import { rmSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openBrowser } from '../test/browser/chromium.ts';
import { fillDirectory, wordOf } from './lib/big-account.ts';
import { at } from './lib/jmap-load.ts';
import { startMailstead } from './lib/mailstead.ts';
import { openSession, slowPage, until, watchPaint } from './lib/web-mail-page.ts';

/**
 * Web mail of a mailbox of 200,000 messages in Chromium, whose scripts run at a quarter of the speed:
 * `npm run bench:webmail [messages] [runs]`. The browser and the server share the processors. `BENCH_DATA=DIR` uses a directory
 * that an earlier run filled, `BENCH_KEEP=1` keeps this one's.
 */
const MESSAGES = Number(process.argv[2] ?? 200_000);
const RUNS = Number(process.argv[3] ?? 9);
const SLOWER = 4;
const SCROLLED_ROWS = 10_000;
const ROW_PX = 76;
const SCROLL_MS = 20_000;
/** The worker fills its cache within this time. */
const WORKER_MS = 5_000;
const ROWS = '.row:not(.blank) a';

const given = process.env['BENCH_DATA'];
const dataDir = given ?? (await filledDirectory());
const secret = openSession(dataDir);
const server = await startMailstead(0, {}, undefined, dataDir);
const base = `http://127.0.0.1:${server.ports['http']}`;
const browser = await openBrowser();
try {
  await measure(browser);
} finally {
  await browser.close();
  await server.stop();
  if (process.env['BENCH_KEEP'] === undefined && given === undefined) rmSync(dataDir, { recursive: true, force: true });
  else console.log(`BENCH_DATA=${dataDir}`);
}

async function filledDirectory(): Promise<string> {
  const filled = await startMailstead(1);
  process.kill(filled.roots[0] ?? 0, 'SIGTERM');
  await sleep(3_000);
  await fillDirectory(filled.dataDir, MESSAGES);
  return filled.dataDir;
}

async function measure(browser: Browser): Promise<void> {
  console.log(`${cpus()[0]?.model} x ${cpus().length}, load ${loadavg()[0]?.toFixed(2)}, ${MESSAGES} messages`);
  const cold: number[] = [];
  const warm: number[] = [];
  for (let run = 0; run <= RUNS; run += 1) {
    const context = await signedIn(browser);
    const page = await slowPage(context, SLOWER);
    const first = await firstRows(page);
    // The worker's cache is what a second visit loads from.
    await page.waitForTimeout(WORKER_MS);
    const again = await firstRows(page);
    // The first run of all waits for the server's own first steps.
    if (process.env['BENCH_VERBOSE'] !== undefined)
      console.log(`run ${run}: ${first.toFixed(0)}, ${again.toFixed(0)} ms`);
    if (run > 0) [cold, warm].forEach((list, which) => list.push([first, again][which] ?? 0));
    await context.close();
  }
  report('list painted, cold', cold);
  report('list painted, warm', warm);
  const context = await signedIn(browser);
  const page = await slowPage(context, SLOWER);
  await firstRows(page);
  report('message opened by the pointer', await openings(page, true));
  report('message opened by a key', await openings(page, false));
  await searches(page);
  await scrolling(page);
  await context.close();
}

async function signedIn(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  await context.addCookies([{ name: 'mailstead-mail', value: secret, url: base, httpOnly: true, sameSite: 'Lax' }]);
  await watchPaint(context);
  return context;
}

/** Ms from the navigation until rows of the inbox are painted. */
async function firstRows(page: Page): Promise<number> {
  await page.goto(`${base}/mail`, { waitUntil: 'commit', timeout: 60_000 });
  return (await page.evaluate('window.firstRows')) as number;
}

function report(name: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const of = (part: number): string => at(sorted, part).toFixed(0).padStart(5);
  console.log(`${name.padEnd(32)} p50 ${of(0.5)} ms, worst ${of(0.99)} ms`);
}

/** Ms from the click on a row, or the key for the next one, until its message is painted. */
async function openings(page: Page, pointer: boolean): Promise<number[]> {
  const times: number[] = [];
  for (let run = 0; run < RUNS * 2; run += 1) {
    const before = (await page.locator('.thread').getAttribute('data-thread-id')) ?? '';
    const link = page.locator(ROWS).nth(run % 8);
    if (pointer) await link.hover();
    // A hand takes at least this long from the row to the click, or from one key to the next.
    await sleep(100);
    const action = pointer
      ? `document.querySelectorAll('${ROWS}')[${run % 8}].click()`
      : `document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }))`;
    const shown = `.thread:not([data-thread-id="${before}"], [data-thread-id=""]) .message.open`;
    times.push(await until(page, action, shown));
  }
  return times;
}

async function searches(page: Page): Promise<void> {
  for (const [name, rank] of [
    ['rare', 50_000],
    ['middling', 1_000],
    ['common', 0],
  ] as const) {
    const times: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const word = wordOf(rank + run);
      await page.evaluate(`location.hash = '#/settings'`);
      await page.locator('.settings').waitFor();
      times.push(await until(page, `location.hash = '#/search/${word}'`, '.row:not(.blank) a, .list .empty'));
    }
    report(`search, ${name} word`, times);
  }
}

/** The longest pause between two frames, while a reader scrolls through rows that are not loaded. */
async function scrolling(page: Page): Promise<void> {
  await page.goto('about:blank');
  await firstRows(page);
  const { longest, frames, blank } = (await page.evaluate(`(async () => {
    const pane = document.querySelector('.rows');
    const begin = performance.now();
    let [before, longest, frames] = [begin, 0, 0];
    for (;;) {
      const now = await new Promise(requestAnimationFrame);
      longest = Math.max(longest, now - before);
      before = now;
      frames += 1;
      const part = (now - begin) / ${SCROLL_MS};
      if (part >= 1) break;
      pane.scrollTop = part * ${SCROLLED_ROWS * ROW_PX};
    }
    const stopped = performance.now();
    while (document.querySelector('.row.blank') !== null && performance.now() - stopped < 10_000) await new Promise(requestAnimationFrame);
    return { longest, frames, blank: performance.now() - stopped };
  })()`)) as { longest: number; frames: number; blank: number };
  console.log(
    `scrolling ${SCROLLED_ROWS} rows in ${SCROLL_MS / 1000} s: ${frames} frames, longest pause ${longest.toFixed(0)} ms, all rows loaded ${blank.toFixed(0)} ms after the end`,
  );
}
