import { no, ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { parseStatusItems, statusResponse } from '../status-items.ts';
import type { StatusItem } from '../status-items.ts';

/** STATUS. RFC 9051 6.3.11, with SIZE of RFC 8438. The selected mailbox is read from the same row as others. */
export const status: ImapCommand<{ name: string; items: readonly StatusItem[] }> = {
  name: 'STATUS',
  states: LOGGED_IN,
  capabilities: ['STATUS=SIZE'],
  parse: (d) => ({ name: d.sp().mailbox(), items: parseStatusItems(d.sp()) }),

  async run(session, { name, items }) {
    const mailbox = await session.store.mailbox(name);
    if (mailbox === undefined) return no('NONEXISTENT', 'No such mailbox');
    session.write(statusResponse(mailbox, items, session.context.limits.messageBytes));
    return ok('STATUS completed');
  },
};
