import { expect } from 'vitest';
import { portalTasks } from './portal-tasks.ts';

const { task } = portalTasks();

task('adds a domain and sees the DNS records to publish', async (person) => {
  await person.open('/domains');
  await person.type('Domain', `new${person.screen}.test`);
  await person.click('button', 'Add domain');
  await person.sees('v=spf1');
});

task('creates a mailbox', async (person) => {
  const { page } = person;
  await person.open('/mailboxes');
  await page.getByLabel('Address', { exact: true }).fill(`kim${person.screen}`);
  await person.type('Name', 'Kim');
  await person.click('button', 'Create mailbox');
  await person.sees('Mailbox created');
});

task('adds five mailboxes from a CSV', async (person) => {
  const five = Array.from({ length: 5 }, (_, i) => `csv${person.screen}-${i}@acme.test,Person ${i}`).join('\n');
  await person.open('/mailboxes/import');
  await person.page.locator('textarea').fill(`address,name\n${five}\n`);
  await person.click('button', 'Preview');
  await person.sees('5 mailboxes');
  await person.click('button', 'Create 5 addresses');
  await person.sees('5 addresses created');
});

task('finds a mailbox by a part of its address, from any page', async (person) => {
  await person.open('/audit');
  await person.click('link', /^Search/);
  await person.page.getByRole('combobox', { name: 'Search' }).fill('bert@');
  await person.click('option', /^bert@acme\.test/);
  await person.page.waitForURL(/\/mailboxes\/mbx_3$/);
  expect(person.clicks).toBe(2);
});

task('creates an alias of a mailbox', async (person) => {
  await person.open('/mailboxes/mbx_2/addresses');
  await person.expand('Create an alias');
  await person.page.locator('#alias-name').fill(`shop${person.screen}`);
  await person.click('button', 'Create alias');
  await person.sees('Alias created');
});

task('blocks a sender of a mailbox', async (person) => {
  await person.open('/mailboxes/mbx_2/addresses');
  await person.expand('Allow or block a sender');
  await person.type('Sender', `spam${person.screen}@remote.example`);
  await person.click('button', 'Save');
  await person.sees('Rule added');
});

task('creates an app password for a phone, and revokes it', async (person) => {
  const { page } = person;
  const name = `phone ${person.screen}`;
  await person.open('/mailboxes/mbx_2/access');
  await person.expand('Create an app password');
  await page.locator('#app-name').fill(name);
  await person.click('button', 'Create');
  await page.getByLabel('Password', { exact: true }).first().waitFor();
  await person.open('/mailboxes/mbx_2/access');
  const row = page.getByRole('row', { name });
  await row.locator('summary', { hasText: 'Revoke' }).click();
  await row.getByRole('button', { name: 'Revoke' }).click();
  await person.sees('App password revoked');
});

task('forwards an address to another server', async (person) => {
  await person.open('/forwarding');
  await person.page.getByLabel('Address', { exact: true }).fill(`office${person.screen}@acme.test`);
  await person.type('Destination', `anna@else${person.screen}.example`);
  await person.click('button', 'Create forward');
  await person.sees(`office${person.screen}@`);
});

task('replaces the DKIM keys of a domain', async (person) => {
  const { page } = person;
  // The keys of one domain are replaced once a week at most.
  const domain = `keys${person.screen}.test`;
  await person.open('/domains');
  await person.type('Domain', domain);
  await person.click('button', 'Add domain');
  await person.open('/domains');
  await person.click('link', domain);
  await person.expand('Rotate DKIM keys');
  await person.click('button', 'Rotate keys');
  await page.waitForURL(/done=/);
  await person.sees(/DKIM keys|selector/i);
});
