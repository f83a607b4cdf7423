import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Violations of WCAG 2.2 AA that axe-core finds on a page, by rule; or of one rule only. */
export async function violations(page: Page, rule?: string): Promise<string[]> {
  const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(source);
  const options = { runOnly: rule === undefined ? TAGS : [rule], iframes: false };
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
  const { violations: all } = found as { violations: { id: string; nodes: { html: string }[] }[] };
  return all.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 120)}`);
}
