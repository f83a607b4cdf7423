import { bad, no, ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { changeLine } from '../fetch-line.ts';
import { flagsLine, permanentFlags } from '../flags.ts';
import { jmapId } from '../../store/object-id.ts';
import { SEEN } from '../imap-store.ts';
import type { ImapMailboxInfo } from '../imap-store.ts';
import { listResponse } from '../list-response.ts';
import type { EnabledExtensions } from '../enabled.ts';
import { hasRight } from '../rights.ts';
import type { SelectedView } from '../selected-view.ts';
import type { Session } from '../session.ts';
import { parseQresync, type QresyncState, writeVanished } from '../qresync.ts';
import type { Decoder } from '../wire/decoder.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';

/** Messages scanned for the first unseen one; beyond that UNSEEN is omitted, as RFC 9051 does. */
const MAX_UNSEEN_SCAN = 5000;

/** SELECT. RFC 9051 6.3.2. */
export const select = openCommand('SELECT', false);

/** EXAMINE. RFC 9051 6.3.3. */
export const examine = openCommand('EXAMINE', true);

interface SelectArguments {
  name: string;
  condstore: boolean;
  qresync: QresyncState | undefined;
}

function openCommand(name: string, isExamine: boolean): ImapCommand<SelectArguments> {
  return {
    name,
    states: LOGGED_IN,
    parse: parseSelect,

    async run(session, { name, condstore, qresync }) {
      if (qresync?.match !== undefined && session.enabled.has('UIDONLY'))
        return bad('UIDREQUIRED', 'Sequence numbers cannot be used: UIDONLY is enabled');
      if (qresync !== undefined && !session.enabled.has('QRESYNC')) return bad('QRESYNC needs ENABLE QRESYNC first');
      if (session.selected !== undefined) {
        session.unselect();
        session.write('* OK [CLOSED] Previous mailbox closed\r\n');
      }
      // RFC 9051 6.3.2: when SELECT fails, no mailbox is selected.
      const mailbox = await session.store.mailbox(name);
      if (mailbox === undefined) return no('NONEXISTENT', 'No such mailbox');
      if (!hasRight(mailbox, 'r')) return no('NOPERM', 'Reading this mailbox needs the right r');
      // Before the mailbox is open: its HIGHESTMODSEQ is sent with the others.
      if (condstore) session.enable('CONDSTORE');
      const shared = await session.store.open(mailbox.id);
      const readOnly = isExamine || session.login?.readOnly === true || !isWritable(mailbox);
      const view = session.select(shared, { readOnly, rights: mailbox.rights });
      await view.noteLabels(session.store);
      session.write(mailboxResponses(view, mailbox, session));
      if (qresync?.uidValidity === shared.uidValidity) await resynchronize(session, qresync);
      return readOnly ? ok('READ-ONLY', 'Selected read-only') : ok('READ-WRITE', 'Selected');
    },
  };
}

/** Tests if any change of messages is allowed. RFC 4314 5.2. */
function isWritable(mailbox: ImapMailboxInfo): boolean {
  return ['i', 's', 'w', 't', 'e'].some((letter) => hasRight(mailbox, letter));
}

/** `INBOX (CONDSTORE)`, `INBOX (QRESYNC (...))`. RFC 7162 3.1.8, 3.2.5. */
function parseSelect(d: Decoder): SelectArguments {
  const name = d.sp().mailbox();
  const args: SelectArguments = { name, condstore: false, qresync: undefined };
  if (d.trailing()) return args;
  d.sp().list((each) => {
    const parameter = each.word();
    if (parameter === 'CONDSTORE') args.condstore = true;
    else if (parameter === 'QRESYNC') args.qresync = parseQresync(each.sp());
    else throw new ImapSyntaxError('Unknown SELECT parameter');
  });
  return args;
}

/** Reports what was expunged and what changed since the client's state. RFC 7162 3.2.5.1. */
async function resynchronize(session: Session, state: QresyncState): Promise<void> {
  const { view } = session;
  await writeVanished(session, state.modseq, state);
  const all = [{ start: 0, end: view.length }];
  const known = state.known === undefined ? all : view.indexes(state.known, true);
  for (const { start, end } of view.changedWithin(known, state.modseq)) {
    await view.noteLabels(session.store);
    for (let at = start; at < end; at += 1) session.write(changeAt(session, at));
    await session.drained();
  }
}

function changeAt({ view, enabled }: Session, at: number): string {
  const uid = view.uids[at] ?? 0;
  const { shared } = view;
  return changeLine({ sequence: at + 1, uid, flags: view.flagsOf(uid).text, modseq: shared.modseq(uid) }, enabled);
}

function mailboxResponses(view: SelectedView, mailbox: ImapMailboxInfo, session: Session): string {
  const { shared } = view;
  return [
    flagsLine(shared.keywords).trimEnd(),
    `* ${view.length} EXISTS`,
    ...(session.isRev2 ? [] : rev1Responses(view, mailbox.unseen, session.enabled)),
    `* OK [UIDVALIDITY ${shared.uidValidity}] UIDs are valid`,
    `* OK [UIDNEXT ${shared.uidNext}] Next UID`,
    // RFC 8474 4.2.
    `* OK [MAILBOXID (${jmapId('mailbox', shared.mailbox)})] Object id`,
    `* OK [${permanentFlags(shared.keywords, view.rights)}] Permanent flags`,
    `* OK [HIGHESTMODSEQ ${view.syncedModseq}] Highest mod-sequence`,
    // RFC 9051 6.3.2: the name of the mailbox as LIST has it.
    ...(session.isRev2 ? [listResponse(mailbox, session.utf8)] : []),
    '',
  ].join('\r\n');
}

/** RECENT and UNSEEN, which RFC 9051 Appendix E removed. */
function rev1Responses(view: SelectedView, unseen: number, enabled: EnabledExtensions): string[] {
  // RFC 9586 3: UNSEEN has a sequence number.
  const first = unseen > 0 && !enabled.has('UIDONLY') ? firstUnseen(view) : 0;
  return [`* ${view.recentCount} RECENT`, ...(first > 0 ? [`* OK [UNSEEN ${first}] First unseen message`] : [])];
}

function firstUnseen(view: SelectedView): number {
  const last = Math.min(view.length, MAX_UNSEEN_SCAN);
  for (let at = 0; at < last; at += 1) {
    if ((view.shared.bits(view.uids[at] ?? 0) & SEEN) === 0) return at + 1;
  }
  return 0;
}
