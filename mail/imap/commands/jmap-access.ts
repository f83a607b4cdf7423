import { no, ok } from '../tagged-response.ts';
import { LOGGED_IN, noArguments } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { string } from '../wire/encoder.ts';

/**
 * GETJMAPACCESS: the URL of the JMAP session, for the same login. RFC 9698. Message, thread and mailbox ids are the same in
 * both protocols, which JMAPACCESS promises.
 */
export const getJmapAccess: ImapCommand<undefined> = {
  name: 'GETJMAPACCESS',
  states: LOGGED_IN,
  capabilities: [
    {
      name: 'JMAPACCESS',
      isOffered: ({ login, context }) => login !== undefined && context.jmapUrl() !== undefined,
    },
  ],
  parse: noArguments,

  run(session) {
    const url = session.context.jmapUrl();
    if (url === undefined) return no('JMAP is not available on this server');
    session.write(`* JMAPACCESS ${string(url)}\r\n`);
    return ok('JMAP session found');
  },
};
