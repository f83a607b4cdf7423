import { bad, ok } from '../tagged-response.ts';
import { BEFORE_LOGIN, noArguments } from '../command.ts';
import type { ImapCommand } from '../command.ts';

/** STARTTLS. RFC 9051 6.2.1. The loop starts TLS after the response and discards plaintext received after the command. */
export const starttls: ImapCommand<undefined> = {
  name: 'STARTTLS',
  states: BEFORE_LOGIN,
  parse: noArguments,

  run(session) {
    if (session.encrypted) return bad('TLS is already active');
    if (session.input.isCompressed) return bad('Compression is active: start TLS before COMPRESS');
    return { ...ok('Begin TLS negotiation now'), next: 'tls' };
  },
};
