import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import type { Endpoint, Role, Way } from '../support/scenario/endpoint.ts';
import { overImap } from '../support/scenario/imap-endpoint.ts';
import { overJmap } from '../support/scenario/jmap-endpoint.ts';
import { overMcp, overRest } from '../support/scenario/tool-endpoint.ts';

/** Every protocol and API of the box that opens a mailbox. */
const WAYS: readonly Way[] = [overImap, overJmap, overRest, overMcp];
const ANNA = 'anna@box.test';
const ROLES: readonly Role[] = ['inbox', 'drafts', 'sent', 'trash', 'archive'];

/** One scenario over each protocol: the results are equal, and after each step all protocols show the same mail. */
test.each(WAYS)('the story over $name', { timeout: 240_000 }, async (way) => {
  await using box = await startBox();
  await box.ask('add_mailbox', { address: ANNA, password: box.password });
  await using endpoints = await openAll(box);
  const door = endpoints.of(way);
  await using anna = await way.open(box, ANNA, box.password);

  await deliver(box, 'Offer', 'Ten apples for a euro.\nAnd quinces.\n');
  await deliver(box, 'Bill', 'Please pay.\n', [{ filename: 'bill.txt', content: '10 €\n' }]);
  expect(await endpoints.see('inbox')).toEqual([mail('Bill'), mail('Offer')]);
  expect(await door.read('inbox', 'Bill')).toEqual({
    subject: 'Bill',
    from: 'carl@else.test',
    to: [box.address],
    text: expect.stringMatching(/^Please pay\.\n?$/),
    attachments: [{ name: 'bill.txt', content: '10 €\n' }],
  });

  await door.mark('inbox', 'Bill', 'seen', true);
  await door.mark('inbox', 'Bill', 'flagged', true);
  await door.mark('inbox', 'Offer', 'answered', true);
  await door.mark('inbox', 'Offer', 'answered', false);
  expect(await endpoints.see('inbox')).toEqual([mail('Bill', { seen: true, flagged: true }), mail('Offer')]);

  await door.move('inbox', 'Bill', 'archive');
  expect(await endpoints.see('inbox')).toEqual([mail('Offer')]);
  expect(await endpoints.see('archive')).toEqual([mail('Bill', { seen: true, flagged: true })]);

  await indexed(endpoints, 'quinces');
  expect(await door.search('inbox', 'quinces')).toEqual(['Offer']);
  expect(await door.search('archive', 'quinces')).toEqual([]);
  expect(await door.search('inbox', 'pears')).toEqual([]);

  const mine = { from: box.address, seen: true };
  await door.draft({ to: ANNA, subject: 'Grüße', text: 'Hello Anna, 10 €.\n' });
  expect(await endpoints.see('drafts')).toEqual([mail('Grüße', { ...mine, draft: true })]);
  await door.send('Grüße');
  expect(await endpoints.see('drafts')).toEqual([]);
  expect(await endpoints.see('sent')).toEqual([mail('Grüße', mine)]);
  expect(await anna.list('inbox')).toEqual([mail('Grüße', { from: box.address })]);
  expect(await anna.read('inbox', 'Grüße')).toMatchObject({
    to: [ANNA],
    text: expect.stringMatching(/^Hello Anna, 10 €\.\n?$/),
    attachments: [],
  });

  await door.move('inbox', 'Offer', 'trash');
  expect(await endpoints.see('trash')).toEqual([mail('Offer')]);
  const eraser = way.destroys === false ? endpoints.of(overJmap) : door;
  await eraser.remove('trash', 'Offer');
  await eraser.remove('archive', 'Bill');
  for (const role of ROLES) expect(await endpoints.see(role), role).toHaveLength(role === 'sent' ? 1 : 0);
});

const mail = (subject: string, more: object = {}): object => ({
  subject,
  from: 'carl@else.test',
  seen: false,
  flagged: false,
  answered: false,
  draft: false,
  ...more,
});

interface Endpoints extends AsyncDisposable {
  of(way: Way): Endpoint;
  /** Lists a mailbox; fails unless all protocols list the same. */
  see(role: Role): Promise<object[]>;
}

async function openAll(box: Box): Promise<Endpoints> {
  const open = new Map<Way, Endpoint>();
  for (const way of WAYS) open.set(way, await way.open(box, box.address, box.password));
  return {
    of: (way) => open.get(way) ?? expect.fail(`${way.name} is not open`),
    async see(role) {
      const [first = [], ...others] = await Promise.all([...open.values()].map((door) => door.list(role)));
      for (const other of others) expect(other).toEqual(first);
      return first;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...open.values()].map((door) => door[Symbol.asyncDispose]()));
    },
  };
}

async function deliver(box: Box, subject: string, text: string, attachments: object[] = []): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true });
  await transport.sendMail({ from: 'carl@else.test', to: box.address, subject, text, attachments });
}

/** Words are indexed a moment after the mail has come. */
async function indexed(endpoints: Endpoints, word: string): Promise<void> {
  const late = AbortSignal.timeout(10_000);
  while ((await endpoints.of(overJmap).search('inbox', word)).length === 0) late.throwIfAborted();
}
