import { ok } from '../tagged-response.ts';
import { ANY } from '../command.ts';
import type { ImapCommand } from '../command.ts';

const MAX_FIELD_CHARACTERS = 200;

/** ID. RFC 2971. Logged only: RFC 2971 3 forbids decisions by it. */
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

  run(session, params) {
    const client = params.slice(0, 20).map((text) => text?.slice(0, MAX_FIELD_CHARACTERS) ?? null);
    session.context.log.info(
      { ip: session.ip, account: session.login?.account, client },
      'IMAP client identified itself',
    );
    session.write('* ID ("name" "Mailstead")\r\n');
    return ok('Identified');
  },
};
