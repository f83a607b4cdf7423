import { no, ok } from '../answer.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { flagsOf } from '../flags.ts';
import type { FlagSet } from '../needs.ts';
import { breathe } from '../pace.ts';
import type { Session } from '../session.ts';
import type { Decoder } from '../wire/decoder.ts';
import type { SequenceSet } from '../wire/sequence-set.ts';

const SLICE = 500;

interface Change {
  set: SequenceSet;
  how: 'add' | 'remove' | 'replace';
  silent: boolean;
  flags: FlagSet;
}

/** STORE and UID STORE. RFC 9051 6.4.6. */
export const store: ImapCommand<Change> = {
  name: 'STORE',
  changes: true,
  states: SELECTED,
  uidForm: true,
  tellable: 'no-expunge',

  parse(d) {
    const set = d.sp().sequenceSet();
    const how = parseHow(d.sp());
    const silent = d.expect('FLAGS').maybe('.SILENT');
    return { set, how, silent, flags: d.sp().flags() };
  },

  async run(session, { set, how, silent, flags }, { uid }) {
    if (session.view.readOnly) return no('READ-ONLY', 'The mailbox is open for reading only');
    const uids = session.view.uidsOf(set, uid);
    for (let at = 0; at < uids.length; at += SLICE) {
      const slice = Array.from(uids.subarray(at, at + SLICE));
      const stored = await session.store.store(session.view.shared.mailbox, slice, how, flags);
      if ('kind' in stored) return no('LIMIT', 'There are too many different keywords');
      session.view.knows(stored.modseqs);
      if (!silent) tellFlags(session, slice);
      await session.room();
      await breathe();
    }
    return ok('Stored');
  },
};

function parseHow(d: Decoder): Change['how'] {
  if (d.maybe('+')) return 'add';
  return d.maybe('-') ? 'remove' : 'replace';
}

/** Messages expunged elsewhere are passed over: their EXPUNGE comes, and the rest must not fail with them. RFC 2180 4.2. */
function tellFlags(session: Session, uids: readonly number[]): void {
  const { view } = session;
  session.say(view.keywordNews());
  for (const uid of uids) {
    if (view.shared.indexOf(uid) < 0) continue;
    session.say(`* ${view.sequenceOf(uid)} FETCH (UID ${uid} FLAGS ${flagsOf(view.shared, uid).text})\r\n`);
  }
}
