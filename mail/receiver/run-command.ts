import { reply, type Reply } from '../smtp/reply.ts';
import { isFault } from '../smtp/syntax.ts';
import type { SmtpCommand } from './commands/command.ts';
import { commands } from './commands/index.ts';
import { closing, type SmtpResponse } from './response.ts';
import type { SmtpSessionState } from './session-state.ts';

/** Verbs of other protocols: a browser or proxy was made to connect here, so nothing that follows is SMTP. */
const FOREIGN = /^(?:GET|POST|PUT|HEAD|OPTIONS|CONNECT|PRI|HTTP\/.*|SSH-.*)$/;

const unknownCommand = reply(500, '5.5.1', 'Unknown command');
const notAscii = reply(500, '5.5.2', 'Commands must be ASCII');

/** Parses and runs one command line. */
export function runCommand(session: SmtpSessionState, line: string): SmtpResponse | Promise<SmtpResponse> {
  const space = line.indexOf(' ');
  const verb = (space < 0 ? line : line.slice(0, space)).toUpperCase();
  const command = commands.get(verb);
  if (command === undefined) return FOREIGN.test(verb) ? refuseForeign(session) : unknownCommand;
  if (command.utf8 !== true && /[^\x00-\x7f]/.test(line)) return notAscii;
  const disordered = refuseSequence(session, command);
  if (disordered !== undefined) return disordered;
  const words = command.parse(space < 0 ? '' : line.slice(space + 1));
  if (isFault(words)) return words.fault;
  if (command.idle === true && isTooIdle(session)) return closing(421, '4.7.0', 'Too many commands without a message');
  return command.run(session, words);
}

function refuseForeign({ options, peer }: SmtpSessionState): SmtpResponse {
  options.guard.addOffence(peer.ip, 'scans');
  return closing(554, '5.5.1', 'This is an SMTP server');
}

function refuseSequence(session: SmtpSessionState, { states }: SmtpCommand<object>): Reply | undefined {
  if (states === 'any') return undefined;
  if (session.greeting === undefined) return reply(503, '5.5.1', 'Send EHLO first');
  if (states === 'greeted') return undefined;
  if (session.transaction === undefined) return reply(503, '5.5.1', 'Send MAIL first');
  // RFC 3030 2: after the first chunk the envelope is closed, and DATA does not mix with BDAT.
  return session.transaction.transfer === undefined
    ? undefined
    : reply(503, '5.5.1', 'BDAT has begun: send its last chunk, or RSET');
}

function isTooIdle(session: SmtpSessionState): boolean {
  session.counters.idleCommands += 1;
  return !session.trusted && session.counters.idleCommands > session.options.limits.idleCommands;
}
