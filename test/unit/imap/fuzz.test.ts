import { expect, test } from 'vitest';
import { fuzz, PATIENT } from '../../support/imap-fuzz.ts';
import { imapWorld } from '../../support/imap-world.ts';

test('nonsense in every state is answered, and nothing breaks', async () => {
  await using world = await imapWorld({ exempt: true, limits: PATIENT });
  for (let n = 0; n < 5; n += 1) world.store.deliver('INBOX', `From: a@b.example\nSubject: ${n}\n\nText\n`);
  expect(await fuzz(world, 20261121, 500)).toEqual([]);
  expect(world.faults).toEqual([]);
  const client = await world.client('INBOX');
  expect(await client.command('NOOP')).toEqual(['t OK NOOP completed']);
});
