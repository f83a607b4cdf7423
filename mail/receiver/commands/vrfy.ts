import { reply } from '../../smtp/reply.ts';
import { anyWords, type SmtpCommand } from './command.ts';

/** VRFY. RFC 5321 7.3 allows a neutral reply: clients of VRFY are mostly harvesting addresses. */
export const vrfy: SmtpCommand<object> = {
  name: 'VRFY',
  states: 'any',
  idle: true,
  utf8: true,
  parse: anyWords,
  run: () => reply(252, '2.5.2', 'Cannot verify the address; send the message to find out'),
};
