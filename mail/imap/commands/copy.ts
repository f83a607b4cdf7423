import { expungedCode } from '../condstore.ts';
import { no, ok } from '../tagged-response.ts';
import type { TaggedResponse } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import type { Session } from '../session.ts';
import { uidSet } from '../wire/encoder.ts';
import type { SequenceSet } from '../wire/sequence-set.ts';

interface CopyArguments {
  set: SequenceSet;
  to: string;
}

/** COPY and UID COPY. RFC 9051 6.4.7. */
export const copy: ImapCommand<CopyArguments> = {
  name: 'COPY',
  changes: true,
  states: SELECTED,
  uidForm: true,
  parse: (d) => ({ set: d.sp().sequenceSet(), to: d.sp().mailbox() }),

  async run(session, { set, to }, { uid }) {
    const copied = await transfer(session, session.view.uidsOf(set, uid), to, false);
    if (copied.kind !== 'done') return copied.answer;
    return copied.code === undefined ? ok('Nothing to copy') : ok(copied.code, 'Copied');
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
    if (moved.kind !== 'done') return moved.answer;
    if (moved.code === undefined) return ok('Nothing to move'); // Apple Mail retries forever on NO
    // RFC 6851 4.3: before the EXPUNGE responses, which the view sends.
    session.write(`* OK [${moved.code}] Moved\r\n`);
    const code = expungedCode(session);
    return code === undefined ? ok('Moved') : ok(code, 'Moved');
  },
};

type TransferResult = { kind: 'done'; code: string | undefined } | { kind: 'refused'; answer: TaggedResponse };

/** Copies or moves messages; the result has the COPYUID code, or none when no message existed. */
async function transfer(session: Session, uids: Uint32Array, to: string, moving: boolean): Promise<TransferResult> {
  if (uids.length === 0) return { kind: 'done', code: undefined };
  const outcome = await session.store.copy(session.view.shared.mailbox, Array.from(uids), to, moving);
  switch (outcome.kind) {
    case 'missing':
      return { kind: 'refused', answer: no('TRYCREATE', 'No such mailbox') };
    case 'over-quota':
      return { kind: 'refused', answer: no('OVERQUOTA', 'Over quota: delete messages and try again') };
    case 'forbidden':
      return { kind: 'refused', answer: no('NOPERM', outcome.why) };
    case 'done': {
      if (outcome.from.length === 0) return { kind: 'done', code: undefined };
      return { kind: 'done', code: `COPYUID ${outcome.uidValidity} ${uidSet(outcome.from)} ${uidSet(outcome.to)}` };
    }
  }
}
