import { ok } from '../answer.ts';
import { ANY } from '../command.ts';
import type { ImapCommand } from '../command.ts';

const LONGEST = 200;

/** RFC 2971. Logged and never decided by: clients lie, and 2971 3 forbids it. */
export const id: ImapCommand<readonly (string | null)[]> = {
  name: 'ID',
  states: ANY,
  capabilities: ['ID'],

  parse(d) {
    d.sp();
    if (d.ahead('(')) return d.list((each) => each.nstring());
    d.expect('NIL');
    return [];
  },

  run(session, given) {
    const client = given.slice(0, 20).map((text) => text?.slice(0, LONGEST) ?? null);
    session.door.log.info({ ip: session.ip, account: session.login?.account, client }, 'IMAP client says what it is');
    session.say('* ID ("name" "Mailstead")\r\n');
    return ok('Pleased to meet you');
  },
};
