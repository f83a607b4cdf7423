import { no, ok } from '../tagged-response.ts';
import type { TaggedResponse } from '../tagged-response.ts';
import { SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { enableCondstore } from '../condstore.ts';
import { changeLine } from '../fetch-line.ts';
import type { FlagSet } from '../imap-store.ts';
import { yieldToEventLoop } from '../../limits/event-loop.ts';
import type { Session } from '../session.ts';
import type { Decoder } from '../wire/decoder.ts';
import { uidSet } from '../wire/encoder.ts';
import type { SequenceSet } from '../wire/sequence-set.ts';

/** Messages of one call of the store, after which the answers for them are written. */
const SLICE = 10_000;

interface StoreArguments {
  set: SequenceSet;
  /** Messages that changed later are left alone. RFC 7162 3.1.3. */
  unchangedSince: number | undefined;
  how: 'add' | 'remove' | 'replace';
  silent: boolean;
  flags: FlagSet;
}

/** STORE and UID STORE. RFC 9051 6.4.6; UNCHANGEDSINCE: RFC 7162 3.1.3. */
export const store: ImapCommand<StoreArguments> = {
  name: 'STORE',
  changes: true,
  states: SELECTED,
  uidForm: true,
  allowedUpdates: 'no-expunge',

  parse(d) {
    const set = d.sp().sequenceSet();
    const unchangedSince = d.ahead(' (') ? parseModifier(d.sp()) : undefined;
    const how = parseHow(d.sp());
    const silent = d.expect('FLAGS').maybe('.SILENT');
    return { set, unchangedSince, how, silent, flags: d.sp().flags() };
  },

  async run(session, { set, unchangedSince, how, silent, flags }, { uid }) {
    if (session.view.readOnly) return no('READ-ONLY', 'Mailbox is read-only');
    const uids = session.view.uidsOf(set, uid);
    if (unchangedSince !== undefined) enableCondstore(session);
    const modified: number[] = [];
    for (let at = 0; at < uids.length; at += SLICE) {
      const slice = Array.from(uids.subarray(at, at + SLICE));
      const stored = await session.store.store(session.view.shared.mailbox, slice, how, flags, unchangedSince);
      if ('kind' in stored) return refusal(stored);
      session.view.addOwnChanges(stored.modseqs);
      const skipped = new Set(stored.modified);
      modified.push(...stored.modified);
      const changed = slice.filter((each) => !skipped.has(each));
      await session.view.noteLabels(session.store);
      writeChanges(session, changed, silent);
      await session.drained();
      await yieldToEventLoop(session.login?.account);
    }
    return modified.length === 0 ? ok('Stored') : modifiedResponse(session, modified, uid);
  },
};

function refusal(stored: { kind: 'too-many-keywords' } | { kind: 'forbidden'; why: string }): TaggedResponse {
  return stored.kind === 'forbidden'
    ? no('NOPERM', stored.why)
    : no('LIMIT', 'Too many different keywords in this mailbox');
}

function parseModifier(d: Decoder): number {
  const modseq = d.expect('(UNCHANGEDSINCE').sp().modseq();
  d.expect(')');
  return modseq;
}

/** MODIFIED names the messages that were left alone, as the client named them. RFC 7162 3.1.3. */
function modifiedResponse({ view }: Session, uids: readonly number[], uid: boolean): TaggedResponse {
  const numbers = uid ? uids : uids.map((each) => view.sequenceOf(each));
  return ok(`MODIFIED ${uidSet([...numbers].sort((a, b) => a - b))}`, 'Conditional STORE failed for some messages');
}

function parseHow(d: Decoder): StoreArguments['how'] {
  if (d.maybe('+')) return 'add';
  return d.maybe('-') ? 'remove' : 'replace';
}

/**
 * Writes the new flags; with .SILENT only the new mod-sequences, for a client that uses these. Skips messages expunged
 * elsewhere: their EXPUNGE follows. RFC 2180 4.2.
 */
function writeChanges(session: Session, uids: readonly number[], silent: boolean): void {
  const { view, enabled } = session;
  if (silent && !enabled.has('CONDSTORE')) return;
  session.write(view.takeKeywordUpdate());
  for (const uid of uids) {
    if (view.shared.indexOf(uid) < 0) continue;
    const flags = silent ? undefined : view.flagsOf(uid).text;
    const message = { sequence: view.sequenceOf(uid), uid, flags, modseq: view.shared.modseq(uid) };
    session.write(changeLine(message, enabled));
  }
}
