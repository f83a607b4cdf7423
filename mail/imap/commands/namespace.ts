import { ok } from '../tagged-response.ts';
import { LOGGED_IN, noArguments } from '../command.ts';
import { string } from '../wire/encoder.ts';
import type { ImapCommand } from '../command.ts';

/** NAMESPACE. RFC 9051 6.3.10. */
export const namespace: ImapCommand<undefined> = {
  name: 'NAMESPACE',
  states: LOGGED_IN,
  capabilities: ['NAMESPACE'],
  parse: noArguments,

  run(session) {
    const { otherUsers } = session.store;
    const others = otherUsers === undefined ? 'NIL' : `((${string(otherUsers)} "/"))`;
    session.write(`* NAMESPACE (("" "/")) ${others} NIL\r\n`);
    return ok('Namespaces listed');
  },
};
