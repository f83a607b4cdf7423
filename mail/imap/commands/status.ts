import { enableCondstore } from '../condstore.ts';
import { no, ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { hasRight } from '../rights.ts';
import { parseStatusItems, statusResponse, withCounts } from '../status-items.ts';
import type { StatusItem } from '../status-items.ts';

/** STATUS. RFC 9051 6.3.11, with SIZE of RFC 8438. The selected mailbox is read from the same row as others. */
export const status: ImapCommand<{ name: string; items: readonly StatusItem[] }> = {
  name: 'STATUS',
  states: LOGGED_IN,
  capabilities: ['STATUS=SIZE'],
  parse: (d) => ({ name: d.sp().mailbox(), items: parseStatusItems(d.sp()) }),

  async run(session, { name, items }) {
    // RFC 7162 3.1.7.
    if (items.includes('HIGHESTMODSEQ')) enableCondstore(session);
    const mailbox = await session.store.mailbox(name);
    if (mailbox === undefined) return no('NONEXISTENT', 'No such mailbox');
    if (!hasRight(mailbox, 'r')) return no('NOPERM', 'STATUS of this mailbox needs the right r');
    const facts = await withCounts(session.store, mailbox, items);
    session.write(statusResponse(facts, items, session));
    return ok('STATUS completed');
  },
};
