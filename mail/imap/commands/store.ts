import { no, ok } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { flagsOf } from '../flags.ts';
import type { FlagSet } from '../imap-store.ts';
import { yieldToEventLoop } from '../../limits/event-loop.ts';
import type { Session } from '../session.ts';
import type { Decoder } from '../wire/decoder.ts';
import type { SequenceSet } from '../wire/sequence-set.ts';

const SLICE = 500;

interface StoreArguments {
  set: SequenceSet;
  how: 'add' | 'remove' | 'replace';
  silent: boolean;
  flags: FlagSet;
}

/** STORE and UID STORE. RFC 9051 6.4.6. */
export const store: ImapCommand<StoreArguments> = {
  name: 'STORE',
  changes: true,
  states: SELECTED,
  uidForm: true,
  allowedUpdates: 'no-expunge',

  parse(d) {
    const set = d.sp().sequenceSet();
    const how = parseHow(d.sp());
    const silent = d.expect('FLAGS').maybe('.SILENT');
    return { set, how, silent, flags: d.sp().flags() };
  },

  async run(session, { set, how, silent, flags }, { uid }) {
    if (session.view.readOnly) return no('READ-ONLY', 'Mailbox is read-only');
    const uids = session.view.uidsOf(set, uid);
    for (let at = 0; at < uids.length; at += SLICE) {
      const slice = Array.from(uids.subarray(at, at + SLICE));
      const stored = await session.store.store(session.view.shared.mailbox, slice, how, flags);
      if ('kind' in stored) return no('LIMIT', 'Too many different keywords in this mailbox');
      session.view.addOwnChanges(stored.modseqs);
      if (!silent) writeFlags(session, slice);
      await session.drained();
      await yieldToEventLoop(session.login?.account);
    }
    return ok('Stored');
  },
};

function parseHow(d: Decoder): StoreArguments['how'] {
  if (d.maybe('+')) return 'add';
  return d.maybe('-') ? 'remove' : 'replace';
}

/** Writes the new flags. Skips messages expunged elsewhere: their EXPUNGE follows. RFC 2180 4.2. */
function writeFlags(session: Session, uids: readonly number[]): void {
  const { view } = session;
  session.write(view.takeKeywordUpdate());
  for (const uid of uids) {
    if (view.shared.indexOf(uid) < 0) continue;
    session.write(`* ${view.sequenceOf(uid)} FETCH (UID ${uid} FLAGS ${flagsOf(view.shared, uid).text})\r\n`);
  }
}
