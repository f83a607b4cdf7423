import { reply } from '../../smtp/reply.ts';
import { anyWords, type SmtpCommand } from './command.ts';

/** NOOP. RFC 5321 4.1.1.9: its argument is ignored. */
export const noop: SmtpCommand<object> = {
  name: 'NOOP',
  states: 'any',
  idle: true,
  utf8: true,
  parse: anyWords,
  run: () => reply(250, '2.0.0', 'Ok'),
};
