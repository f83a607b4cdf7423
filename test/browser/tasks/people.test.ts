import { expect } from 'vitest';
import { tool } from '../../support/mcp.ts';
import { OWNER_PASSWORD, Visitor } from '../../support/visitor.ts';
import { portalTasks } from './portal-tasks.ts';

const { portal, task } = portalTasks();

task('signs in for the first time, by a claim link', async (person) => {
  const { page, screen } = person;
  const { base, acme } = portal();
  const input = { ownerEmail: `first${screen}@example.test`, organizationName: `First ${screen}` };
  const { body } = await tool(base, 'create_account_and_claim_link', input, acme.token);
  await page.context().clearCookies();
  await page.goto(String(body['claimUrl']));
  await person.type('New password', OWNER_PASSWORD);
  await person.click('button', 'Claim organization');
  await page.waitForURL(/\?done=claimed$/);
  await person.sees(`First ${screen}`);
});

task('signs in with address and password', async (person) => {
  const { page } = person;
  await page.context().clearCookies();
  await page.goto(`${portal().base}/login`);
  await person.type('Mail address', 'ada@example.test');
  await person.type('Password', OWNER_PASSWORD);
  await person.click('button', 'Sign in');
  await page.waitForURL(/\/o\/org_\d+$/);
});

task('reads what needs attention, and the charts of seven days', async (person) => {
  await person.open('');
  await person.click('link', '7 days');
  await person.page.waitForURL(/range=7d/);
  expect(await person.page.locator('.chart-title').count()).toBeGreaterThan(0);
});

task('invites a colleague', async (person) => {
  await person.open('/members');
  await person.type('Mail address', `colleague${person.screen}@remote.example`);
  await person.click('button', 'Send invitation');
  await person.sees('Invitation sent');
});

task('renames the organization', async (person) => {
  await person.open('/settings');
  await person.type('Organization name', `Acme ${person.screen}`);
  await person.click('button', 'Save name');
  await person.page.waitForURL(/done=/);
});

task('finds in the audit log who created the mailboxes', async (person) => {
  await person.open('/audit');
  await person.type('Operation', 'provision_email');
  await person.click('button', 'Filter');
  await person.page.waitForURL(/operation=provision_email/);
  expect(await person.page.locator('tbody tr').count()).toBe(2);
});

task('ends the session of another browser', async (person) => {
  const { page } = person;
  const other = new Visitor(portal().base);
  await other.signIn('ada@example.test', OWNER_PASSWORD);
  await page.goto(`${portal().base}/account`);
  await person.click('button', /^End session/);
  await person.sees('Session ended');
});

task('turns letters about new devices off, and on', async (person) => {
  await person.page.goto(`${portal().base}/account/security`);
  await person.click('button', 'Turn off notifications');
  await person.click('button', 'Turn on notifications');
  await person.sees('Active');
});

task('begins to set up an authenticator app', async (person) => {
  await person.page.goto(`${portal().base}/account`);
  await person.click('link', 'Manage');
  await person.click('button', 'Set up authenticator app');
  await person.page.getByLabel('Key', { exact: true }).waitFor();
});
