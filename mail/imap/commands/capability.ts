import { ok } from '../answer.ts';
import { ANY, nothing } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { capabilities } from '../capabilities.ts';

/** RFC 9051 6.1.1. */
export const capability: ImapCommand<undefined> = {
  name: 'CAPABILITY',
  states: ANY,
  parse: nothing,

  run(session) {
    session.say(`* CAPABILITY ${capabilities(session)}\r\n`);
    return ok('That is what works here');
  },
};
