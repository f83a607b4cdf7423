import { ok } from '../tagged-response.ts';
import { noArguments, SELECTED } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { expungeDeleted } from './expunge.ts';

/** CLOSE expunges without EXPUNGE responses, unless the mailbox is read-only. RFC 9051 6.4.1. */
export const close: ImapCommand<undefined> = {
  name: 'CLOSE',
  states: SELECTED,
  parse: noArguments,

  async run(session) {
    if (!session.view.readOnly) await expungeDeleted(session, session.view.uids.subarray(0, session.view.length));
    session.unselect();
    return ok('Closed');
  },
};

/** UNSELECT closes without expunging. RFC 9051 6.4.2. */
export const unselect: ImapCommand<undefined> = {
  name: 'UNSELECT',
  states: SELECTED,
  capabilities: ['UNSELECT'],
  parse: noArguments,

  run(session) {
    session.unselect();
    return ok('Closed');
  },
};
