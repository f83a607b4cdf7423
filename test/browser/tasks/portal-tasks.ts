import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PortalBox, portalBox, type Visitor } from '../../support/visitor.ts';
import { violations } from '../axe.ts';
import { openBrowser, signedInAs, type Watched, watchedPage } from '../chromium.ts';

const DESKTOP = { viewport: { width: 1280, height: 860 } };
const PHONE = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };

/** Sizes and themes in which a task has to be possible. */
export const SCREENS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['desktop, light', { ...DESKTOP, colorScheme: 'light' }],
  ['desktop, dark', { ...DESKTOP, colorScheme: 'dark' }],
  ['phone, light', { ...PHONE, colorScheme: 'light' }],
  ['phone, dark', { ...PHONE, colorScheme: 'dark' }],
];

/** A person at a screen, whose clicks are counted. */
export class TaskVisitor {
  clicks = 0;
  readonly page: Page;
  readonly portal: PortalBox;
  /** Number of the screen in {@link SCREENS}, for names that differ. */
  readonly screen: number;

  constructor(page: Page, portal: PortalBox, screen: number) {
    this.page = page;
    this.portal = portal;
    this.screen = screen;
  }

  /** Opens a page of the first organization. */
  async open(path: string): Promise<void> {
    await this.page.goto(`${this.portal.base}${this.portal.acme.path}${path}`);
  }

  async click(role: 'button' | 'link' | 'option' | 'checkbox' | 'tab', name: string | RegExp): Promise<void> {
    this.clicks++;
    await this.page
      .getByRole(role, { name, exact: typeof name === 'string' })
      .first()
      .click();
  }

  async expand(name: string): Promise<void> {
    this.clicks++;
    await this.page.locator('summary', { hasText: name }).first().click();
  }

  /** Fills the field with this label, or the beginning of one. */
  async type(label: string, text: string): Promise<void> {
    await this.page.getByLabel(label).first().fill(text);
  }

  /** Waits until the page shows the text. */
  async sees(text: string | RegExp): Promise<void> {
    await this.page.locator('main').getByText(text).filter({ visible: true }).first().waitFor();
  }
}

/** Declares the tasks of one file, which share a box and a browser. */
export function portalTasks(settings: Readonly<Record<string, string>> = {}): {
  portal: () => PortalBox;
  /** Does a task at each screen; its last page has to be accessible, and no wider than the screen. */
  task: (name: string, run: (person: TaskVisitor) => Promise<void>, as?: () => Visitor) => void;
} {
  let portal: PortalBox;
  let browser: Browser;
  beforeAll(async () => {
    [portal, browser] = await Promise.all([portalBox(settings), openBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await portal.box[Symbol.asyncDispose]();
  });
  return {
    portal: () => portal,
    task(name, run, as = () => portal.acme.owner) {
      test.each(SCREENS)(`${name} (%s)`, async (screen, options) => {
        const watched = await watchedPage(browser, portal.base, { ...options, reducedMotion: 'reduce' });
        await signedInAs(watched, portal.base, as().secret);
        watched.page.setDefaultTimeout(30_000);
        await run(
          new TaskVisitor(
            watched.page,
            portal,
            SCREENS.findIndex(([one]) => one === screen),
          ),
        );
        await expectAccessible(watched);
        await watched.context.close();
      });
    },
  };
}

async function expectAccessible({ page, wrong }: Watched): Promise<void> {
  const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  // A refused form is an error to the console.
  expect([wider, await violations(page), wrong.filter((one) => !one.includes('422'))]).toEqual([0, [], []]);
}
