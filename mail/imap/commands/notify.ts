import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { NOTIFY_EVENTS, type NotifyRequest, parseNotify } from '../notify/event-groups.ts';
import { Notifications } from '../notify/notifications.ts';
import { no, ok } from '../tagged-response.ts';

/** NOTIFY. RFC 5465. It replaces what the client requested before. */
export const notify: ImapCommand<NotifyRequest> = {
  name: 'NOTIFY',
  states: LOGGED_IN,
  capabilities: ['NOTIFY'],
  parse: parseNotify,

  async run(session, request) {
    if (request.hasUnknownEvent) return no(`BADEVENT (${NOTIFY_EVENTS.join(' ')})`, 'An event is not supported');
    const notifications = new Notifications(session, request);
    // A change between this read and the end of the command is reported: the store is watched before it is read.
    if (await notifications.start()) {
      session.notifications?.stop();
      session.notifications = notifications;
      return ok('Notifications set');
    }
    notifications.stop();
    return no('NOTIFICATIONOVERFLOW', 'Too many mailboxes to notify of');
  },
};
