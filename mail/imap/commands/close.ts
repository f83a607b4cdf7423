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
    const { view } = session;
    // Known before the expunge: it is silent, and a later mod-sequence could hide what others changed meanwhile.
    const synced = view.syncedModseq;
    if (!view.readOnly) await expungeDeleted(session, view.uids.subarray(0, view.length));
    session.unselect();
    return session.enabled.has('QRESYNC') ? ok(`HIGHESTMODSEQ ${synced}`, 'Closed') : ok('Closed');
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
