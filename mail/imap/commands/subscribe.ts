import { no, ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** SUBSCRIBE. RFC 9051 6.3.7. */
export const subscribe = subscription('SUBSCRIBE', true);

/** UNSUBSCRIBE. RFC 9051 6.3.8. A name that is not subscribed is no error: clients send it after DELETE or RENAME. */
export const unsubscribe = subscription('UNSUBSCRIBE', false);

function subscription(name: string, on: boolean): ImapCommand<string> {
  return {
    name,
    changes: true,
    states: LOGGED_IN,
    parse: (d) => d.sp().mailbox(),

    async run(session, mailbox) {
      const outcome = await session.store.subscribe(mailbox, on);
      if (outcome !== 'done') return on ? no('NONEXISTENT', 'No such mailbox') : ok('Not subscribed');
      session.notifications?.addOwn({ kind: 'subscribed', name: mailbox, on });
      return ok('Done');
    },
  };
}
