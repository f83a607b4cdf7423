import { mailboxChanges } from '../../../store/mailbox-tree.ts';
import { MAIL } from '../../capabilities.ts';
import { changedMailboxes } from '../../mailbox/changes.ts';
import type { Method } from '../../method.ts';
import { answerChanges, cannotCalculate, readChanges } from '../../standard-changes.ts';

/** Mailbox/changes, with `updatedProperties` when only counters changed. RFC 8621 2.2. */
export const mailboxChangesMethod: Method = {
  name: 'Mailbox/changes',
  capability: MAIL,
  async run(call, args) {
    const asked = readChanges(call, args);
    const { account } = asked.access;
    const { modseq, row } = asked.since;
    const limit = asked.maxChanges + 1;
    const found = await call.desk.store.read(mailboxChanges, { account, modseq, row, limit });
    if (modseq > found.state) throw cannotCalculate('is none that this account had');
    const { updatedProperties, ...changed } = changedMailboxes(asked, found);
    return { ...answerChanges(asked, changed), updatedProperties };
  },
};
