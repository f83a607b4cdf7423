import { no, ok } from '../answer.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { flagsLine, permanentFlags } from '../flags.ts';
import { SEEN } from '../needs.ts';
import type { SelectedView } from '../view.ts';

/** How many messages are looked at for the first unseen one; beyond, the code is left out, as RFC 9051 does. */
const LOOK = 5000;

/** RFC 9051 6.3.2. */
export const select = opening('SELECT', false);

/** RFC 9051 6.3.3. */
export const examine = opening('EXAMINE', true);

function opening(name: string, examines: boolean): ImapCommand<string> {
  return {
    name,
    states: LOGGED_IN,
    parse: (d) => d.sp().mailbox(),

    async run(session, wanted) {
      if (session.selected !== undefined) {
        session.unselect();
        session.say('* OK [CLOSED] Previous mailbox closed\r\n');
      }
      // RFC 9051 6.3.2: when this fails, no mailbox is selected.
      const mailbox = await session.store.mailbox(wanted);
      if (mailbox === undefined) return no('NONEXISTENT', 'No such mailbox');
      const shared = await session.store.open(mailbox.id);
      const readOnly = examines || session.login?.readOnly === true;
      session.say(description(session.select(shared, readOnly), mailbox.unseen));
      return readOnly ? ok('READ-ONLY', 'Opened for reading') : ok('READ-WRITE', 'Opened');
    },
  };
}

function description(view: SelectedView, unseen: number): string {
  const { shared } = view;
  const first = unseen > 0 ? firstUnseen(view) : 0;
  return [
    flagsLine(shared.keywords).trimEnd(),
    `* ${view.length} EXISTS`,
    '* 0 RECENT',
    ...(first > 0 ? [`* OK [UNSEEN ${first}] First unseen message`] : []),
    `* OK [UIDVALIDITY ${shared.uidValidity}] UIDs are valid`,
    `* OK [UIDNEXT ${shared.uidNext}] Next UID`,
    `* OK [${permanentFlags(shared.keywords, view.readOnly)}] Flags that are kept`,
    '',
  ].join('\r\n');
}

function firstUnseen(view: SelectedView): number {
  const last = Math.min(view.length, LOOK);
  for (let at = 0; at < last; at += 1) {
    if ((view.shared.bits(view.uids[at] ?? 0) & SEEN) === 0) return at + 1;
  }
  return 0;
}
