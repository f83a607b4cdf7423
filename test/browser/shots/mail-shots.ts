import type { Browser, Page } from 'playwright-core';
import { FORMS, isPhone, shoot, take } from './camera.ts';
import { type Demo, HELD, INVITED } from './demo.ts';

/** Takes web mail in English at each size and theme, and its list and its dialog in the other languages. */
export async function mailShots(browser: Browser, demo: Demo): Promise<void> {
  for (const [form, options] of FORMS) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await take(`mail-${form}`, () => mailPages(page, demo, form));
    await context.close();
  }
  for (const locale of ['de', 'es']) {
    for (const [form, options] of FORMS.filter(([name]) => name.endsWith('light'))) {
      const context = await browser.newContext({ ...options, locale });
      const page = await context.newPage();
      await take(`mail-${locale}-${form}`, () => translatedPages(page, demo, `${locale}-${form}`));
      await context.close();
    }
  }
}

/** Signs in by the order of the fields, which is the same in every language. */
async function signIn(page: Page, { base, mailbox }: Demo, form: string): Promise<void> {
  await page.goto(`${base}/mail`);
  await shoot(page, `mail-sign-in-${form}`);
  await page.locator('input[type=email]').fill(mailbox.address);
  await page.locator('input[type=password]').fill(mailbox.password);
  await page.locator('form button').click();
  await page.locator('.row a').first().waitFor();
}

/** Messages of the demo: name of the picture, subject, and what is there once it is open. */
const MESSAGES = [
  ['invitation', INVITED, '.invitation'],
  ['held', HELD, '.agent-note.ask'],
  ['message', 'About the loom', '.message.open footer'],
] as const;

/** Signing in, the list, messages of each kind, a message that is written, and the settings. */
async function mailPages(page: Page, demo: Demo, form: string): Promise<void> {
  await signIn(page, demo, form);
  await shoot(page, `mail-list-${form}`);
  const list = page.url();
  await selection(page, form);
  await folderMenu(page, form);
  await shareDialog(page, form);
  for (const [name, subject, shown] of MESSAGES) {
    await page.goto(list);
    await openMessage(page, subject);
    await page.locator(shown).first().waitFor();
    await shoot(page, `mail-${name}-${form}`);
  }
  await composer(page, form);
  await searchAndHelp(page, form);
  await settings(page, form);
}

/** The preview of another message may quote the subject. */
const openMessage = (page: Page, subject: string): Promise<void> =>
  page
    .locator('.row a', { has: page.locator('.subject', { hasText: subject }) })
    .first()
    .click();

async function translatedPages(page: Page, demo: Demo, form: string): Promise<void> {
  await signIn(page, demo, form);
  await shoot(page, `mail-list-${form}`);
  const list = page.url();
  await selection(page, form);
  await shareDialog(page, form);
  await page.goto(list);
  await openMessage(page, INVITED);
  await page.locator('.invitation').waitFor();
  await shoot(page, `mail-invitation-${form}`);
  await settings(page, form);
}

/** The list while all of it is selected. */
async function selection(page: Page, form: string): Promise<void> {
  await page.locator('.select-all').check();
  await shoot(page, `mail-selected-${form}`);
  await page.locator('.select-all').uncheck();
}

const openFolders = async (page: Page, form: string): Promise<void> => {
  if (isPhone(form)) await page.locator('.menu-button').click();
};
/** The menu of the folder Archive, which is the fourth. */
const openMenu = (page: Page): Promise<void> => page.locator('.folder-actions').nth(3).press('Enter');

async function folderMenu(page: Page, form: string): Promise<void> {
  await openFolders(page, form);
  await openMenu(page);
  await page.getByRole('menuitem').first().waitFor();
  await shoot(page, `mail-folder-menu-${form}`);
  await page.reload();
  await page.locator('.row a').first().waitFor();
}

/** The dialog that shares a folder, empty and after a refusal. */
async function shareDialog(page: Page, form: string): Promise<void> {
  await openFolders(page, form);
  await openMenu(page);
  await page
    .getByRole('menuitem')
    .filter({ hasText: /^(?:Share|Freigeben|Compartir)$/ })
    .click();
  await page.locator('.add-share button.primary:enabled').waitFor();
  await shoot(page, `mail-share-${form}`);
  await page.getByRole('dialog').locator('input').fill('stranger@elsewhere.example');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await shoot(page, `mail-share-refused-${form}`);
  await page.reload();
  await page.locator('.row a').first().waitFor();
}

async function composer(page: Page, form: string): Promise<void> {
  await page.keyboard.press('r');
  await page.locator('.composer').waitFor();
  await shoot(page, `mail-compose-${form}`);
  // A draft would be the last message of the conversation, and fold the one that is held.
  await page.getByRole('button', { name: 'Delete draft' }).click();
  await page.locator('.composer').waitFor({ state: 'detached' });
}

/** Search without a result, and the list of keys. */
async function searchAndHelp(page: Page, form: string): Promise<void> {
  await page.evaluate(`location.hash = '#/search/nosuchword'`);
  await page.locator('.empty').first().waitFor();
  await shoot(page, `mail-nothing-found-${form}`);
  await page.keyboard.press('?');
  await page.locator('.shortcuts').waitFor();
  await shoot(page, `mail-keys-${form}`);
  await page.keyboard.press('Escape');
}

/** The settings scroll in the page: the window is as high as they are. */
async function settings(page: Page, form: string): Promise<void> {
  await page.evaluate(`location.hash = '#/settings'`);
  await page.locator('input[name=enabled]').waitFor();
  const size = page.viewportSize() ?? { width: 0, height: 0 };
  await page.setViewportSize({ ...size, height: 2200 });
  await shoot(page, `mail-settings-${form}`);
  await page.setViewportSize(size);
}
