import { no, ok } from '../answer.ts';
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
        if (session.selected?.shared.gone === true) {
          session.unselect();
          session.say('* OK [CLOSED] The selected mailbox was deleted\r\n');
        }
        return ok('Deleted');
      case 'missing':
        return no('NONEXISTENT', 'No such mailbox');
      case 'has-children':
        return no('HASCHILDREN', 'Delete the mailboxes below it first');
      case 'is-inbox':
        return no('CANNOT', 'INBOX cannot be deleted');
      case 'has-emails':
        return no('NOPERM', 'It holds messages: an agent moves or deletes them first, each for itself');
      case 'is-for-approval':
        return no('CANNOT', 'Mail lies in it that awaits approval, or was just approved: decide about it first');
    }
  },
};
