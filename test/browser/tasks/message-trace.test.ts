import { createTransport } from 'nodemailer';
import { beforeAll, expect } from 'vitest';
import { tool } from '../../support/mcp.ts';
import { portalTasks } from './portal-tasks.ts';

const { portal, task } = portalTasks();
const SENDER = 'win@casino.example';

beforeAll(async () => {
  const { box, base, acme } = portal();
  const call = (name: string, input: object) => tool(base, name, input, acme.token);
  const incoming = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true });
  const from = { name: 'service@bank.example', address: SENDER };
  const html = '<a href="http://192.0.2.7/in">https://bank.example/login</a> Verify your account.';
  await incoming.sendMail({ from, to: 'anna@acme.test', subject: 'You won', html });
  incoming.close();
  const { body } = await call('reveal_email_credentials', { address: 'anna@acme.test' });
  const { password: pass } = body['imap'] as { password: string };
  const outgoing = createTransport({
    host: '127.0.0.1',
    port: box.port('submissions'),
    secure: true,
    auth: { user: 'anna@acme.test', pass },
    tls: { rejectUnauthorized: false },
  });
  await outgoing.sendMail({ from: 'anna@acme.test', to: 'ada@remote.example', subject: 'Offer', text: 'Hello' });
  outgoing.close();
});

task('finds out why a message went to Junk, in two clicks', async (person) => {
  const { page } = person;
  await person.open('');
  await person.click('link', /^Search/);
  await page.getByRole('combobox', { name: 'Search' }).fill(SENDER);
  await person.click('option', /^To anna@acme.test/);
  await person.sees('Filter');
  const findings = page.getByRole('table', { name: 'Findings' });
  expect(await findings.textContent()).toContain('A link leads to the IP address 192.0.2.7');
  expect(await page.getByRole('table', { name: 'Folders' }).textContent()).toMatch(/Junk\s*Unread/);
  expect(person.clicks).toBe(2);
});

task('sees from the list of junk what happened to a message', async (person) => {
  await person.open('/mailboxes/mbx_2/junk');
  await person.click('link', 'Timeline of You won');
  await person.sees('Timeline');
  expect(await person.page.locator('.timeline li').first().textContent()).toContain('Accepted');
});

task('finds the reasons of all junk on one page, in one click', async (person) => {
  await person.open('');
  await person.click('link', 'Junk');
  await person.sees('A link leads to the IP address 192.0.2.7');
  expect(person.clicks).toBe(1);
});

task('sees from the queue when a message was accepted, and why it is held', async (person) => {
  await person.open('/queue');
  await person.click('link', 'Timeline of the message to ada@remote.example');
  await person.sees('Accepted for sending by anna@acme.test.');
  await person.sees(/Held: local mode/);
});
