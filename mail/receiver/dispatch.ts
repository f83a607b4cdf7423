import { reply, type Reply } from '../smtp/reply.ts';
import { isFault } from '../smtp/syntax.ts';
import { closing, type Answer } from './answer.ts';
import { commands } from './commands/index.ts';
import type { SmtpCommand } from './commands/command.ts';
import type { Conversation } from './conversation.ts';

/** Verbs of other protocols: a browser or a proxy is being used to talk to us, so nothing that follows is SMTP. */
const FOREIGN = /^(?:GET|POST|PUT|HEAD|OPTIONS|CONNECT|PRI|HTTP\/.*|SSH-.*)$/;

const unknown = reply(500, '5.5.1', 'This command is not known here');
const needsUtf8 = reply(500, '5.5.2', 'Commands are ASCII');

/** Runs one command line. */
export function dispatch(session: Conversation, line: string): Answer | Promise<Answer> {
  const space = line.indexOf(' ');
  const verb = (space < 0 ? line : line.slice(0, space)).toUpperCase();
  const command = commands.get(verb);
  if (command === undefined) return FOREIGN.test(verb) ? foreign(session) : unknown;
  if (command.utf8 !== true && /[^\x00-\x7f]/.test(line)) return needsUtf8;
  const early = outOfOrder(session, command);
  if (early !== undefined) return early;
  const words = command.parse(space < 0 ? '' : line.slice(space + 1));
  if (isFault(words)) return words.fault;
  if (command.idle === true && tooIdle(session)) return closing(421, '4.7.0', 'Too many commands without a message');
  return command.run(session, words);
}

function foreign({ settled, peer }: Conversation): Answer {
  settled.guard.offended(peer.ip, 'scans');
  return closing(554, '5.5.1', 'This is a mail server');
}

function outOfOrder(session: Conversation, { states }: SmtpCommand<object>): Reply | undefined {
  if (states === 'any') return undefined;
  if (session.greeting === undefined) return reply(503, '5.5.1', 'Say EHLO first');
  if (states === 'greeted') return undefined;
  if (session.transaction === undefined) return reply(503, '5.5.1', 'Say MAIL first');
  // RFC 3030 2: once a chunk has come the envelope is closed, and DATA does not mix with BDAT.
  return session.transaction.incoming === undefined ? undefined : reply(503, '5.5.1', 'BDAT has begun');
}

function tooIdle(session: Conversation): boolean {
  session.tally.idleCommands += 1;
  return !session.trusted && session.tally.idleCommands > session.settled.limits.idleCommands;
}
