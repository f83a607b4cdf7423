import { expect } from 'vitest';
import { appendMail, deliver, heldAnswer, openConversation, openMail } from './mail-tasks.ts';
import { portalTasks, type TaskVisitor } from './portal-tasks.ts';

const { portal, task } = portalTasks();

/** Delivers a message of this screen and opens it. */
async function reading(person: TaskVisitor, subject: string, from = 'Ada Lovelace <ada@remote.example>') {
  const own = `${subject} ${person.screen}`;
  await deliver(portal(), { from, subject: own, text: `Text of ${own}.` });
  await openMail(person);
  await openConversation(person, own, `Text of ${own}.`);
  return own;
}

task('opens web mail and reads a message', async (person) => {
  await reading(person, 'About the loom');
});

task('answers with an attachment', async (person) => {
  const { page } = person;
  await reading(person, 'Send me the plan');
  await page.getByRole('button', { name: 'Reply', exact: true }).click();
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('The plan is attached.');
  const file = { name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('Weave.') };
  await page.locator('.composer input[type=file]').setInputFiles(file);
  await page.locator('.composer .files', { hasText: 'plan.txt' }).waitFor();
  await page.locator('.composer progress').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('Sent.').waitFor();
});

task('takes a message back after sending it', async (person) => {
  const { page } = person;
  await reading(person, 'Too fast');
  await page.getByRole('button', { name: 'Reply', exact: true }).click();
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Sent too early.');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('dialog', { name: 'New message' }).waitFor();
  const text = page.getByRole('textbox', { name: 'Message', exact: true });
  await expect.poll(() => text.inputValue()).toContain('Sent too early.');
});

task('finds the invoice of last March', async (person) => {
  const { page, screen } = person;
  const now = new Date();
  const year = now.getUTCFullYear() - (now.getUTCMonth() > 2 ? 0 : 1);
  const on = (month: number): Date => new Date(Date.UTC(year, month, 15));
  await appendMail(portal(), [
    { at: on(1), subject: `Invoice of February ${screen}` },
    { at: on(2), subject: `Invoice of March ${screen}` },
    { at: new Date(Date.UTC(year - 1, 2, 15)), subject: `Invoice of the year before ${screen}` },
  ]);
  await openMail(person);
  await page.getByLabel('Search mail').fill(`invoice after:${year}-03-01 before:${year}-04-01`);
  await page.keyboard.press('Enter');
  await openConversation(person, `Invoice of March ${screen}`, `Text of Invoice of March ${screen}.`);
  expect(await page.locator('.row a', { hasText: /February|year before/ }).count()).toBe(0);
});

task('archives a conversation, and takes that back', async (person) => {
  const { page } = person;
  const subject = await reading(person, 'Old news');
  await page.getByRole('button', { name: 'Archive', exact: true }).click();
  await page.getByText('Moved to "Archive".').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.locator('.row a', { hasText: subject }).waitFor();
});

task('blocks the sender of a message', async (person) => {
  const { page, screen } = person;
  const sender = `shop${screen}@remote.example`;
  await reading(person, 'Offer', sender);
  await page.locator('.answer summary', { hasText: 'More' }).click();
  await page.getByRole('button', { name: `Block ${sender}` }).click();
  await page.getByText(`Blocked: mail from ${sender} is refused.`).waitFor();
});

task('adds a label to a conversation', async (person) => {
  const { page, screen } = person;
  await reading(person, 'To be done');
  const pane = page.getByRole('region', { name: 'Conversation' });
  await pane.getByLabel('Labels').click();
  await pane.getByLabel('New label').fill(`todo${screen}`);
  await page.keyboard.press('Enter');
  await pane.getByRole('link', { name: `todo${screen}` }).waitFor();
});

task('turns on a vacation response', async (person) => {
  const { page } = person;
  await openMail(person);
  await page.evaluate(`location.hash = '#/settings'`);
  await page.getByLabel('Answer automatically').check();
  await page.getByLabel('Response', { exact: true }).fill('I am away until Monday.');
  await page.getByRole('button', { name: 'Save response' }).click();
  await page.getByText('The vacation response is on.').waitFor();
});

task('approves an agent’s mail', async (person) => {
  const subject = await heldAnswer(person, 'Question');
  await person.open('');
  await person.click('link', /^Approvals/);
  await person.click('link', `Re: ${subject}`);
  await person.sees(`Answer to ${subject}.`);
  await person.click('button', 'Approve and send');
  await person.sees('Message approved.');
});

task('rejects an agent’s mail', async (person) => {
  const subject = await heldAnswer(person, 'Wish');
  await person.open('');
  await person.click('link', /^Approvals/);
  await person.click('link', `Re: ${subject}`);
  await person.expand('Reject');
  await person.click('button', 'Reject');
  await person.sees('Message rejected');
});

// The last task: what it trains could move the mail of the others.
task('reports a message as junk', async (person) => {
  const { page } = person;
  const subject = await reading(person, 'Cheap watches', 'watches@remote.example');
  await page.getByRole('toolbar', { name: 'Conversation' }).getByRole('button', { name: 'Report as junk' }).click();
  await page.getByText('Moved to "Junk".').waitFor();
  await page.locator('.row a', { hasText: subject }).waitFor({ state: 'detached' });
});
