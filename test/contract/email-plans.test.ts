import { expect, test } from 'vitest';
import { readEmailFacts } from '../../mail/jmap/email-query/email-facts.ts';
import type { Read } from '../../mail/store/engine/types.ts';
import { visibleEntries } from '../../mail/store/message/visible-entries.ts';
import { explained } from '../support/explained.ts';
import { putMessage } from '../support/jmap-mail.ts';
import { createJmapFixture } from '../support/jmap-fixture.ts';

test.each([
  ['shown entries', visibleEntries],
  [
    'facts',
    (rx: Read, account: number, emails: number[]) => readEmailFacts({ rx, account, within: undefined }, emails),
  ],
])('%s of a few emails do not read all entries of the account, nor look into each mailbox', async (_what, read) => {
  await using world = await createJmapFixture();
  await putMessage(world);
  const emails = [world.account * 2 ** 32 + 1, world.account * 2 ** 32 + 1];
  using looked = explained(world.box.dataDir);
  expect(await read(looked.tx, world.account, emails)).toHaveLength(1);
  const [plan] = looked.plans;
  expect(plan?.filter((step) => step.startsWith('SEARCH n '))).toEqual([
    'SEARCH n USING INDEX entry_email (email_id=?)',
  ]);
});
