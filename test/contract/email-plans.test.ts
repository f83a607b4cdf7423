import { expect, test } from 'vitest';
import { factsOf } from '../../mail/jmap/query/facts.ts';
import { shownEntries } from '../../mail/store/shown-entries.ts';
import { explained } from '../support/explained.ts';
import { putMessage } from '../support/jmap-mail.ts';
import { jmapWorld } from '../support/jmap-world.ts';

test.each([
  ['shown entries', shownEntries],
  ['facts', factsOf],
])('%s of a few emails do not read all entries of the account, nor look into each mailbox', async (_what, read) => {
  await using world = await jmapWorld();
  await putMessage(world);
  const emails = [world.account * 2 ** 32 + 1, world.account * 2 ** 32 + 1];
  using looked = explained(world.box.dataDir);
  expect(await read(looked.tx, world.account, emails)).toHaveLength(1);
  const [plan] = looked.plans;
  expect(plan?.filter((step) => step.startsWith('SEARCH n '))).toEqual([
    'SEARCH n USING INDEX entry_email (email_id=?)',
  ]);
});
