import { expungedCode } from '../condstore.ts';
import { no, ok } from '../tagged-response.ts';
import type { TaggedResponse } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import type { TransferOutcome, TransferredMessages, TransferRefusal } from '../imap-store.ts';
import type { Session } from '../session.ts';
import { uidSet } from '../wire/encoder.ts';
import type { SequenceSet } from '../wire/sequence-set.ts';

interface CopyArguments {
  set: SequenceSet;
  to: string;
}

/** Apple Mail retries a MOVE forever that is answered NO. */
const NOTHING_TO_MOVE = 'Nothing to move';

/** COPY and UID COPY. RFC 9051 6.4.7. */
export const copy: ImapCommand<CopyArguments> = {
  name: 'COPY',
  changes: true,
  states: SELECTED,
  uidForm: true,
  parse: (d) => ({ set: d.sp().sequenceSet(), to: d.sp().mailbox() }),

  async run(session, { set, to }, { uid }) {
    const copied = await transfer(session, session.view.uidsOf(set, uid), to, false);
    if (copied !== undefined && !('from' in copied)) return refusal(copied);
    const code = copied && copyUidCode(copied);
    return code === undefined ? ok('Nothing to copy') : ok(code, 'Copied');
  },
};

/** MOVE and UID MOVE. RFC 6851, RFC 9051 6.4.8. */
export const move: ImapCommand<CopyArguments> = {
  name: 'MOVE',
  changes: true,
  states: SELECTED,
  uidForm: true,
  capabilities: ['MOVE'],
  parse: (d) => ({ set: d.sp().sequenceSet(), to: d.sp().mailbox() }),

  async run(session, { set, to }, { uid }) {
    if (session.view.readOnly) return no('READ-ONLY', 'Mailbox is read-only');
    const moved = await transfer(session, session.view.uidsOf(set, uid), to, true);
    if (moved === undefined) return ok(NOTHING_TO_MOVE);
    if (!('from' in moved)) return refusal(moved);
    const copyUid = copyUidCode(moved);
    if (copyUid === undefined) return ok(NOTHING_TO_MOVE);
    // RFC 6851 4.3: before the EXPUNGE responses, which the view sends.
    session.write(`* OK [${copyUid}] Moved\r\n`);
    // RFC 6851 3.3: what was moved stays moved when the command ends with NO.
    if (moved.kind === 'partly') return endOfMove(moved.end);
    const code = await expungedCode(session);
    return code === undefined ? ok('Moved') : ok(code, 'Moved');
  },
};

/** Answers a MOVE that ended in the middle; throws its fault. */
function endOfMove(end: Extract<TransferOutcome, { kind: 'partly' }>['end']): TaggedResponse {
  if (end.kind === 'failed') throw end.error;
  return refusal(end);
}

/** Copies or moves messages; undefined when no message existed. */
async function transfer(
  session: Session,
  uids: Uint32Array,
  to: string,
  moving: boolean,
): Promise<TransferOutcome | undefined> {
  if (uids.length === 0) return undefined;
  return session.store.copy(session.view.shared.mailbox, Array.from(uids), to, moving);
}

function copyUidCode({ uidValidity, from, to }: TransferredMessages): string | undefined {
  return from.length === 0 ? undefined : `COPYUID ${uidValidity} ${uidSet(from)} ${uidSet(to)}`;
}

function refusal(refused: TransferRefusal): TaggedResponse {
  switch (refused.kind) {
    case 'missing':
      return no('TRYCREATE', 'No such mailbox');
    case 'over-quota':
      return no('OVERQUOTA', 'Over quota: delete messages and try again');
    case 'forbidden':
      return no('NOPERM', refused.why);
  }
}
