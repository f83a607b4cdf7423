import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';

export const OUT = join(import.meta.dirname, '../../../.cache/shots');

const DESKTOP = { viewport: { width: 1280, height: 860 } };
const PHONE = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };

/** Sizes and themes of which each page is taken. */
export const FORMS: readonly (readonly [form: string, options: BrowserContextOptions])[] = [
  ['desktop-light', { ...DESKTOP, colorScheme: 'light' }],
  ['desktop-dark', { ...DESKTOP, colorScheme: 'dark' }],
  ['phone-light', { ...PHONE, colorScheme: 'light' }],
  ['phone-dark', { ...PHONE, colorScheme: 'dark' }],
];

export const isPhone = (form: string): boolean => form.includes('phone');

/** Removes the screenshots of the last run. */
export function emptyOut(): void {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
}

export async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(OUT, `${name}.png`), fullPage: true });
}

/** Takes one screenshot; a page that fails is named, and the others follow. */
export async function take(name: string, steps: () => Promise<void>): Promise<void> {
  try {
    await steps();
  } catch (error) {
    process.exitCode = 1;
    console.log(`failed: ${name}: ${(error as Error).message.split('\n', 1)[0]}`);
  }
}
