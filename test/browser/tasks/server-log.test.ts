import { beforeAll, expect } from 'vitest';
import { operatorOf, Visitor } from '../../support/visitor.ts';
import { portalTasks } from './portal-tasks.ts';

const { portal, task } = portalTasks();
let operator: Visitor;
beforeAll(async () => {
  operator = await operatorOf(portal().box);
});

task(
  'follows the log, pauses it, and filters it',
  async (person) => {
    const { page } = person;
    await page.goto(`${portal().base}/o/org_1/log`);
    await person.sees('Live');
    const line = page.locator('.log-line').filter({ hasText: '"outcome":"wrong"' });
    const before = await line.count();
    await new Visitor(portal().base).signIn('ada@example.test', '<b>wrong</b>');
    await expect.poll(() => line.count()).toBe(before + 1);
    await person.click('button', 'Pause');
    await person.sees('Paused');
    await person.type('Contains', 'sign-in');
    await person.click('button', 'Filter');
    await expect.poll(() => page.locator('.log-line').filter({ hasNotText: 'sign-in' }).count()).toBe(0);
    expect(await page.locator('.log-line').count()).toBeGreaterThan(0);
  },
  () => operator,
);
