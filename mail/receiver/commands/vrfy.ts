import { reply } from '../../smtp/reply.ts';
import { anyWords, type SmtpCommand } from './command.ts';

/** VRFY. RFC 5321 7.3 allows telling nothing, and whoever asks is looking for addresses. */
export const vrfy: SmtpCommand<object> = {
  name: 'VRFY',
  states: 'any',
  idle: true,
  utf8: true,
  parse: anyWords,
  run: () => reply(252, '2.5.2', 'Send the message and see'),
};
