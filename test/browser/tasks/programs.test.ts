import { expect } from 'vitest';
import { tool } from '../../support/mcp.ts';
import { portalTasks } from './portal-tasks.ts';

const { portal, task } = portalTasks();

task('creates a token that may only read, and revokes it', async (person) => {
  const { page } = person;
  const name = `Reader ${person.screen}`;
  await person.open('/tokens');
  await page.getByLabel('Name', { exact: true }).fill(name);
  await person.click('button', 'Create token');
  const token = (await page.getByLabel('Token', { exact: true }).textContent()) ?? '';
  expect((await tool(portal().base, 'list_emails', {}, token)).status).toBe(200);
  const row = page.getByRole('row', { name });
  await row.locator('summary', { hasText: 'Revoke' }).click();
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.waitForURL(/done=revoked$/);
  expect((await tool(portal().base, 'list_emails', {}, token)).status).toBe(401);
});

task('creates a key for a program that sends', async (person) => {
  await person.open('/api-keys');
  await person.page.getByLabel('Name', { exact: true }).fill(`Shop ${person.screen}`);
  await person.click('button', 'Create key');
  await person.page.locator('.secret output').waitFor();
});

task('adds a webhook and opens its deliveries', async (person) => {
  const url = `https://hooks${person.screen}.example/mail`;
  await person.open('/webhooks');
  await person.type('URL', url);
  await person.click('button', 'Add webhook');
  await person.page.locator('.secret output').first().waitFor();
  await person.open('/webhooks');
  await person.click('link', url);
  await person.sees('Deliveries');
});

task('suppresses an address', async (person) => {
  const address = `gone${person.screen}@remote.example`;
  await person.open('/suppressions');
  await person.type('Address', address);
  await person.click('button', 'Suppress address');
  await person.sees(`gone${person.screen}@`);
});

task('stops all agents at once, and starts them', async (person) => {
  await person.open('/agents');
  await person.expand('Stop all agents');
  await person.click('button', 'Stop all agents');
  await person.page.waitForURL(/done=/);
  await person.click('button', 'Start agents');
  await person.page.waitForURL(/done=/);
});

task('sends a domain’s mail through a smarthost', async (person) => {
  await person.open('/routes');
  await person.type('Recipient domain', `slow${person.screen}.example`);
  await person.type('Smarthost', '127.0.0.1');
  await person.click('button', 'Save route');
  await person.sees('Route saved');
});
