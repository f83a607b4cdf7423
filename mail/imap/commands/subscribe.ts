import { no, ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** SUBSCRIBE. RFC 9051 6.3.7. */
export const subscribe = subscription('SUBSCRIBE', true);

/** UNSUBSCRIBE. RFC 9051 6.3.8. */
export const unsubscribe = subscription('UNSUBSCRIBE', false);

function subscription(name: string, on: boolean): ImapCommand<string> {
  return {
    name,
    changes: true,
    states: LOGGED_IN,
    parse: (d) => d.sp().mailbox(),

    async run(session, mailbox) {
      session.notifications?.expectOwn(mailbox);
      const outcome = await session.store.subscribe(mailbox, on);
      return outcome === 'done' ? ok('Done') : no('NONEXISTENT', 'No such mailbox');
    },
  };
}
