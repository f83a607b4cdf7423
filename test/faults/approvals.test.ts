import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type HeldBox, heldBox } from '../support/held-box.ts';

vi.mock('../../mail/agents/gate/gate.ts', () => import('../support/held-mail.ts'));

const KILLS = 4;
/** Nothing is on its way to another server when a kill comes: what is may arrive twice, whoever approved it. */
const DUE_IN_MS = 3_600_000;

let held: HeldBox;

beforeAll(async () => {
  held = await heldBox();
});
afterAll(() => held[Symbol.asyncDispose]());

test(`${KILLS} kills between the approval and the sending: each message is sent exactly once`, async () => {
  const subjects = await held.hold(KILLS + 2, Date.now() + DUE_IN_MS);
  for (let kills = 0; kills < KILLS; kills++) {
    const person = await held.person();
    await person.mailboxOpen('Awaiting approval');
    const moved = await person.messageMove('1', 'Approved');
    expect(moved && moved.uidMap?.size).toBe(1);
    await held.box.kill();
    person.close();
    await held.box.start();
  }
  const person = await held.person();
  const opened = await person.mailboxOpen('Awaiting approval');
  expect(opened.exists).toBe(2);
  // Nobody was asked again about what was approved, and what was refused is not sent.
  await person.messageDelete('1');
  await person.mailboxClose();
  await person.logout();
  expect(held.remote.mails).toEqual([]);
  expect(await held.makeDue()).toBe(KILLS);
  await held.remote.received(KILLS);
  await expect
    .poll(async () => (await held.box.ask('list_queue')) as object, { timeout: 60_000 })
    .toMatchObject({ items: [] });
  await held.box.restart();
  await expect.poll(sentCount).toBe(KILLS);
  const sent = held.remote.mails.map(({ raw }) => /^Subject: (.*?)\r$/m.exec(raw.toString())?.[1]);
  expect(new Set(sent)).toEqual(new Set(subjects.slice(0, KILLS)));
  expect(sent).toHaveLength(KILLS);
});

/** Messages in Sent. */
async function sentCount(): Promise<number> {
  const person = await held.person();
  const { exists } = await person.mailboxOpen('Sent');
  await person.logout();
  return exists;
}
