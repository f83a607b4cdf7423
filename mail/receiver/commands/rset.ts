import { reply } from '../../smtp/reply.ts';
import { resetTransaction } from '../session-state.ts';
import { noWords, type SmtpCommand } from './command.ts';

/** RSET. RFC 5321 4.1.1.5. */
export const rset: SmtpCommand<object> = {
  name: 'RSET',
  states: 'any',
  idle: true,
  parse: noWords('RSET'),

  run(session) {
    resetTransaction(session);
    return reply(250, '2.0.0', 'Ok');
  },
};
