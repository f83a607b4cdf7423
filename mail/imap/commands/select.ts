import { no, ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { flagsLine, permanentFlags } from '../flags.ts';
import { SEEN } from '../imap-store.ts';
import type { SelectedView } from '../selected-view.ts';

/** Messages scanned for the first unseen one; beyond that UNSEEN is omitted, as RFC 9051 does. */
const MAX_UNSEEN_SCAN = 5000;

/** SELECT. RFC 9051 6.3.2. */
export const select = openCommand('SELECT', false);

/** EXAMINE. RFC 9051 6.3.3. */
export const examine = openCommand('EXAMINE', true);

function openCommand(name: string, isExamine: boolean): ImapCommand<string> {
  return {
    name,
    states: LOGGED_IN,
    parse: (d) => d.sp().mailbox(),

    async run(session, name) {
      if (session.selected !== undefined) {
        session.unselect();
        session.write('* OK [CLOSED] Previous mailbox closed\r\n');
      }
      // RFC 9051 6.3.2: when SELECT fails, no mailbox is selected.
      const mailbox = await session.store.mailbox(name);
      if (mailbox === undefined) return no('NONEXISTENT', 'No such mailbox');
      const shared = await session.store.open(mailbox.id);
      const readOnly = isExamine || session.login?.readOnly === true;
      session.write(mailboxResponses(session.select(shared, readOnly), mailbox.unseen));
      return readOnly ? ok('READ-ONLY', 'Selected read-only') : ok('READ-WRITE', 'Selected');
    },
  };
}

function mailboxResponses(view: SelectedView, unseen: number): string {
  const { shared } = view;
  const first = unseen > 0 ? firstUnseen(view) : 0;
  return [
    flagsLine(shared.keywords).trimEnd(),
    `* ${view.length} EXISTS`,
    '* 0 RECENT',
    ...(first > 0 ? [`* OK [UNSEEN ${first}] First unseen message`] : []),
    `* OK [UIDVALIDITY ${shared.uidValidity}] UIDs are valid`,
    `* OK [UIDNEXT ${shared.uidNext}] Next UID`,
    `* OK [${permanentFlags(shared.keywords, view.readOnly)}] Permanent flags`,
    '',
  ].join('\r\n');
}

function firstUnseen(view: SelectedView): number {
  const last = Math.min(view.length, MAX_UNSEEN_SCAN);
  for (let at = 0; at < last; at += 1) {
    if ((view.shared.bits(view.uids[at] ?? 0) & SEEN) === 0) return at + 1;
  }
  return 0;
}
