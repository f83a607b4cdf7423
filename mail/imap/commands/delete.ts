import { no, ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** DELETE. RFC 9051 6.3.5. */
export const remove: ImapCommand<string> = {
  name: 'DELETE',
  changes: true,
  states: LOGGED_IN,
  parse: (d) => d.sp().mailbox(),

  async run(session, name) {
    switch (await session.store.remove(name)) {
      case 'removed':
        session.notifications?.addOwn({ kind: 'removed', name });
        if (session.selected?.shared.gone === true) {
          session.unselect();
          session.write('* OK [CLOSED] The selected mailbox was deleted\r\n');
        }
        return ok('Deleted');
      case 'missing':
        return no('NONEXISTENT', 'No such mailbox');
      case 'has-children':
        return no('HASCHILDREN', 'Mailbox has children: delete them first');
      case 'is-shared':
        return no('NOPERM', 'Only the owner deletes this mailbox: unsubscribe from it instead');
      case 'is-inbox':
        return no('CANNOT', 'INBOX cannot be deleted');
      case 'has-emails':
        return no('NOPERM', 'Mailbox is not empty: an agent must move or delete each message first');
      case 'is-for-approval':
        return no('CANNOT', 'Mailbox has mail that awaits approval or was just approved: approve or reject it first');
    }
  },
};
