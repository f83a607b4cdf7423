import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { BrowserContext, Page } from 'playwright-core';
import { newSecret } from '../../src/people/secrets.ts';

/** Cookie of a session of web mail for the newest account of a directory in which nothing runs. */
export function openSession(dataDir: string): string {
  const { secret, hash } = newSecret();
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'));
  const now = Date.now();
  db.prepare(
    `INSERT INTO mail_session
       (token_hash, account_id, credential_id, ip, agent, created_at, last_used_at, expires_at, session_id)
     SELECT ?, account_id, id, '127.0.0.1', 'bench', ?, ?, ?, NULL FROM credential ORDER BY id DESC LIMIT 1`,
  ).run(hash, now, now, now + 86_400_000);
  return secret;
}

/** A page as slow as on a phone: its scripts run at a quarter of the speed. */
export async function slowPage(context: BrowserContext, rate: number): Promise<Page> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  return page;
}

/** Defines `painted(selector)` in each document: ms since its begin of the first frame that has the selector. The driver's own waits do not count. */
export async function watchPaint(context: BrowserContext): Promise<void> {
  await context.addInitScript(`window.painted = (selector) => new Promise((resolve) => {
    const frame = () => requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    const look = () => document.querySelector(selector) !== null && (watcher.disconnect(), frame(), true);
    const watcher = new MutationObserver(look);
    if (!look()) watcher.observe(document, { subtree: true, childList: true, attributes: true });
  });
  window.firstRows = window.painted('.row:not(.blank) a');`);
}

/** Ms from an action until a selector is painted. */
export function until(page: Page, action: string, selector: string): Promise<number> {
  return page.evaluate(`(async () => {
    const begin = performance.now();
    ${action};
    return (await window.painted(${JSON.stringify(selector)})) - begin;
  })()`) as Promise<number>;
}
