import { reply } from '../../smtp/reply.ts';
import { anyWords, type SmtpCommand } from './command.ts';

/** EXPN. RFC 5321 3.5.2: members of a list are not disclosed. */
export const expn: SmtpCommand<object> = {
  name: 'EXPN',
  states: 'any',
  idle: true,
  utf8: true,
  parse: anyWords,
  run: () => reply(502, '5.5.1', 'EXPN is not supported'),
};
