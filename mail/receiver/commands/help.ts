import { reply } from '../../smtp/reply.ts';
import { anyWords, type SmtpCommand } from './command.ts';

/** HELP. RFC 5321 4.1.1.8. */
export const help: SmtpCommand<object> = {
  name: 'HELP',
  states: 'any',
  idle: true,
  parse: anyWords,
  run: () => reply(214, '2.0.0', 'See RFC 5321; EHLO lists the supported extensions'),
};
