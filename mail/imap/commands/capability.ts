import { ok } from '../tagged-response.ts';
import { ANY, noArguments } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { capabilities } from '../capabilities.ts';

/** CAPABILITY. RFC 9051 6.1.1. */
export const capability: ImapCommand<undefined> = {
  name: 'CAPABILITY',
  states: ANY,
  parse: noArguments,

  run(session) {
    session.write(`* CAPABILITY ${capabilities(session)}\r\n`);
    return ok('Capabilities listed');
  },
};
