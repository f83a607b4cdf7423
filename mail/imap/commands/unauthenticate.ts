import { ok } from '../tagged-response.ts';
import { LOGGED_IN, noArguments } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** UNAUTHENTICATE. RFC 8437. TLS and compression stay. */
export const unauthenticate: ImapCommand<undefined> = {
  name: 'UNAUTHENTICATE',
  states: LOGGED_IN,
  allowedUpdates: 'nothing',
  capabilities: [{ name: 'UNAUTHENTICATE', isOffered: ({ login }) => login !== undefined }],
  parse: noArguments,

  run(session) {
    session.unauthenticate();
    return ok('Logged out. Log in again');
  },
};
