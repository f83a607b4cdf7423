import { no, ok } from '../answer.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { parseStatusItems, statusResponse } from '../status-items.ts';
import type { StatusItem } from '../status-items.ts';

/** RFC 9051 6.3.11; SIZE of RFC 8438. Asked for the selected mailbox it answers from the same row. */
export const status: ImapCommand<{ name: string; items: readonly StatusItem[] }> = {
  name: 'STATUS',
  states: LOGGED_IN,
  capabilities: ['STATUS=SIZE'],
  parse: (d) => ({ name: d.sp().mailbox(), items: parseStatusItems(d.sp()) }),

  async run(session, { name, items }) {
    const mailbox = await session.store.mailbox(name);
    if (mailbox === undefined) return no('NONEXISTENT', 'No such mailbox');
    session.say(statusResponse(mailbox, items, session.door.limits.messageBytes));
    return ok('Status told');
  },
};
