import { ok } from '../answer.ts';
import { nothing, SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { expungeDeleted } from './expunge.ts';

/** RFC 9051 6.4.1: expunges without telling, unless the mailbox is open for reading only. */
export const close: ImapCommand<undefined> = {
  name: 'CLOSE',
  states: SELECTED,
  parse: nothing,

  async run(session) {
    if (!session.view.readOnly) await expungeDeleted(session, session.view.uids.subarray(0, session.view.length));
    session.unselect();
    return ok('Closed');
  },
};

/** RFC 9051 6.4.2: closes without expunging. */
export const unselect: ImapCommand<undefined> = {
  name: 'UNSELECT',
  states: SELECTED,
  capabilities: ['UNSELECT'],
  parse: nothing,

  run(session) {
    session.unselect();
    return ok('Closed');
  },
};
