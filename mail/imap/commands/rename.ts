import { no, ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** RENAME. RFC 9051 6.3.6. */
export const rename: ImapCommand<{ from: string; to: string }> = {
  name: 'RENAME',
  changes: true,
  states: LOGGED_IN,
  parse: (d) => ({ from: d.sp().mailbox(), to: d.sp().mailbox() }),

  async run(session, { from, to }) {
    const outcome = await session.store.rename(from, to);
    if (typeof outcome === 'object') return no('NOPERM', outcome.why);
    switch (outcome) {
      case 'renamed':
        session.notifications?.addOwn({ kind: 'renamed', from, to });
        return ok('Renamed');
      case 'missing':
        return no('NONEXISTENT', 'No such mailbox');
      case 'exists':
        return no('ALREADYEXISTS', 'Mailbox already exists');
      case 'too-many':
        return no('LIMIT', 'Too many mailboxes, or the name is too long');
      case 'is-shared':
        return no('NOPERM', 'Only the owner renames mailboxes there');
      case 'inside-itself':
        return no('CANNOT', 'A mailbox cannot be moved into itself');
      case 'is-for-approval':
        return no('CANNOT', 'Mailbox cannot be renamed: it is used for approvals');
    }
  },
};
