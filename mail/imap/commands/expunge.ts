import { expungedCode } from '../condstore.ts';
import { no, ok } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { DELETED } from '../imap-store.ts';
import { yieldToEventLoop } from '../../limits/event-loop.ts';
import type { Session } from '../session.ts';
import type { SequenceSet } from '../wire/sequence-set.ts';

const SLICE = 500;
const ALL: SequenceSet = [{ from: 1, to: 0 }];

/** EXPUNGE and UID EXPUNGE. RFC 9051 6.4.3, 6.4.9. */
export const expunge: ImapCommand<SequenceSet> = {
  name: 'EXPUNGE',
  changes: true,
  states: SELECTED,
  uidForm: true,
  capabilities: ['UIDPLUS'],
  parse: (d, uid) => (uid ? d.sp().sequenceSet() : ALL),

  async run(session, set) {
    if (session.view.readOnly) return no('READ-ONLY', 'Mailbox is read-only');
    const kept = await expungeDeleted(session, session.view.uidsOf(set, true));
    if (kept !== undefined) return no('NOPERM', kept);
    const code = await expungedCode(session);
    return code === undefined ? ok('Expunged') : ok(code, 'Expunged');
  },
};

/**
 * Expunges those of `uids` that have \Deleted, in slices; the view reports them. Returns the reason when some were kept.
 */
export async function expungeDeleted(session: Session, uids: Uint32Array): Promise<string | undefined> {
  const { shared } = session.view;
  let deleted: number[] = [];
  let kept: string | undefined;
  const expungeSlice = async (): Promise<void> => {
    const done = await session.store.expunge(shared.mailbox, deleted);
    kept ??= done.kept;
    deleted = [];
  };
  for (const [at, uid] of uids.entries()) {
    if (at % SLICE === 0) await yieldToEventLoop(session.login?.account);
    if ((shared.bits(uid) & DELETED) !== 0) deleted.push(uid);
    if (deleted.length < SLICE) continue;
    await expungeSlice();
  }
  if (deleted.length > 0) await expungeSlice();
  return kept;
}
