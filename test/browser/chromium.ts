import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { watchPolicies } from './policy-violations.ts';

const PROGRAM = '/usr/bin/chromium-headless-shell';

/** Debian's Chromium without a user interface, which costs less than half the CPU time of the one with it. */
export async function openBrowser(more: readonly string[] = []): Promise<Browser> {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing: apt-get install chromium-headless-shell`);
  const args = ['--no-sandbox', '--disable-dev-shm-usage', ...more];
  const browser = await chromium.launch({ executablePath: PROGRAM, args });
  watchPolicies(browser);
  browser.on('context', endsQuietly);
  return browser;
}

/** Answers that a test makes for its page may be under way when it ends: that they come to nothing is no error. */
function endsQuietly(context: BrowserContext): void {
  const close = context.close.bind(context);
  context.close = async (options) => {
    await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
    return close(options);
  };
}

/** A page that remembers everything that should not happen on it. */
export interface Watched {
  page: Page;
  context: BrowserContext;
  /** Script that ran, dialogs, loads from elsewhere, complaints of the browser. */
  wrong: string[];
}

/** Opens a page; scripts of attackers call `pwned()`, which is heard wherever it is called. */
export async function watchedPage(
  browser: Browser,
  base: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext(options);
  const wrong: string[] = [];
  await context.exposeFunction('pwned', (how: unknown) => void wrong.push(`ran: ${String(how)}`));
  context.on('request', (request) => {
    const url = request.url();
    // A frame without an origin makes blobs of its own.
    if (url.startsWith('blob:null/')) return;
    if (!url.startsWith(base) && !url.startsWith(`blob:${base}/`) && !url.startsWith('data:image/svg'))
      wrong.push(`load: ${url.slice(0, 100)}`);
  });
  const page = await context.newPage();
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (line) => {
    if (line.type() === 'error')
      wrong.push(`console: ${line.text().slice(0, 200)} ${line.location().url.slice(0, 300)}`.trimEnd());
  });
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
  return { page, context, wrong };
}

/** Lets a page be signed in by the cookie that a visitor has. */
export async function signedInAs({ context }: Watched, base: string, secret: string): Promise<void> {
  await context.addCookies([{ name: 'mailstead', value: secret, url: base, httpOnly: true, sameSite: 'Lax' }]);
}
