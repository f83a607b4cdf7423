import { closing } from '../response.ts';
import { noWords, type SmtpCommand } from './command.ts';

/** QUIT. RFC 5321 4.1.1.10. */
export const quit: SmtpCommand<object> = {
  name: 'QUIT',
  states: 'any',
  parse: noWords('QUIT'),
  run: () => closing(221, '2.0.0', 'Goodbye'),
};
