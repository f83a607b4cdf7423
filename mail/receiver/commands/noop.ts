import { reply } from '../../smtp/reply.ts';
import { anyWords, type SmtpCommand } from './command.ts';

/** NOOP. RFC 5321 4.1.1.9: what follows is not looked at. */
export const noop: SmtpCommand<object> = {
  name: 'NOOP',
  states: 'any',
  idle: true,
  utf8: true,
  parse: anyWords,
  run: () => reply(250, '2.0.0', 'Ok'),
};
