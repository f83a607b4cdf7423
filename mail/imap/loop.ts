import { StoreBusy } from '../store/engine/types.ts';
import { bad, no } from './answer.ts';
import type { Answer } from './answer.ts';
import type { Call, ImapCommand } from './command.ts';
import { VERBS } from './commands/index.ts';
import { skipLiteral } from './literal.ts';
import { Disconnected } from './output.ts';
import { breathe } from './pace.ts';
import type { Session } from './session.ts';
import { startTls } from './sockets.ts';
import { Decoder } from './wire/decoder.ts';
import { statusLine } from './wire/encoder.ts';
import type { ReaderEvent } from './wire/line-reader.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

/** How many lists may be open at once in a command after login. */
const LISTS = 50;

type Literal = Extract<ReaderEvent, { kind: 'append-literal' }>;

/** What was read of one command: something to run, or what is wrong with it. */
interface Read {
  readonly call: Call;
  readonly command: ImapCommand<unknown> | undefined;
  readonly given: unknown;
  readonly wrong: Answer | undefined;
}

/**
 * The one loop of a session: takes what the client sent, a command at a time, and alone says, counts, logs and closes.
 * Returns when the client has sent no more; nothing of it stays in memory while the session rests.
 */
export async function converse(session: Session): Promise<void> {
  if (session.busy) return;
  session.busy = true;
  try {
    await answerAll(session);
  } catch (error) {
    if (!(error instanceof Disconnected)) fault(session, error);
    // An answer may have broken off in the middle: what comes after it would be read as its continuation.
    session.socket.destroy();
  } finally {
    session.busy = false;
    rest(session);
  }
}

async function answerAll(session: Session): Promise<void> {
  for (let count = 0; session.open; count += 1) {
    const event = session.reader.next();
    if (event === undefined) return;
    if (count > 0) await breathe();
    await hear(session, event);
    await session.room();
    session.part();
  }
}

function rest(session: Session): void {
  if (!session.connected) {
    session.dispose();
    return;
  }
  session.part();
  if (!session.open) return;
  session.output.flush();
  if (session.socket.isPaused()) session.socket.resume();
}

async function hear(session: Session, event: ReaderEvent): Promise<void> {
  switch (event.kind) {
    case 'command':
      return answer(session, event.bytes, undefined);
    case 'append-literal':
      return answer(session, event.head, event);
    case 'need-continuation':
      return session.prompt();
    case 'problem':
      return refuse(session, event);
    case 'literal-data':
    case 'append-end':
    case 'refused':
      throw new Error(`${event.kind} with no literal under way`);
  }
}

function refuse(session: Session, problem: { tag: string; text: string; fatal: boolean }): void {
  if (problem.fatal) {
    session.say(statusLine('*', 'BYE', undefined, problem.text));
    session.close();
    return;
  }
  session.say(statusLine(problem.tag, 'BAD', 'TOOBIG', problem.text));
  settle(session, undefined, bad(problem.text));
}

async function answer(session: Session, bytes: Buffer, literal: Literal | undefined): Promise<void> {
  const read = understand(session, bytes, literal);
  session.readingLiteral = literal !== undefined;
  await throttle(session);
  const decided = await decide(session, read);
  if (literal !== undefined) await skipLiteral(session);
  // RFC 9051 7.5.1. What was not understood may have been any command.
  const tellable = read.call.uid ? 'all' : (read.command?.tellable ?? 'all');
  if (session.selected !== undefined)
    session.say(session.selected.news(decided.kind === 'bad' ? 'no-expunge' : tellable));
  session.say(statusLine(read.call.tag, STATUS[decided.kind], decided.code, decided.text));
  settle(session, read.command, decided);
}

const STATUS = { ok: 'OK', no: 'NO', bad: 'BAD' } as const;

/** Reads tag, name and arguments. What is wrong becomes an answer. */
function understand(session: Session, bytes: Buffer, literal: Literal | undefined): Read {
  const d = new Decoder(bytes, { lists: session.login === undefined ? 1 : LISTS });
  let call: Call = { tag: '*', uid: false, literal };
  let command: ImapCommand<unknown> | undefined;
  try {
    call = { ...call, tag: d.tag() };
    const name = d.sp().word();
    if (name === 'UID') call = { ...call, uid: true };
    command = VERBS.get(call.uid ? `UID ${d.sp().word()}` : name);
    const wrong = command === undefined ? bad('Unknown command') : wrongState(session, command);
    if (wrong !== undefined) return { call, command, given: undefined, wrong };
    const given = command?.parse(d, call.uid);
    d.end();
    return { call, command, given, wrong: undefined };
  } catch (error) {
    if (!(error instanceof ImapSyntaxError)) throw error;
    return { call, command, given: undefined, wrong: bad(error.reason) };
  }
}

function wrongState(session: Session, command: ImapCommand<unknown>): Answer | undefined {
  if (command.states.includes(session.state)) return undefined;
  if (session.state === 'not-authenticated') return bad('Log in first');
  return bad(
    session.state === 'authenticated' && command.states.includes('selected')
      ? 'Select a mailbox first'
      : 'Already logged in',
  );
}

/** An account that gives too many commands is slowed down, not refused: clients retry refusals at once. */
async function throttle(session: Session): Promise<void> {
  if (session.login === undefined || session.exempt) return;
  const { accounts, clock, meter } = session.door;
  const wait = accounts.wait(session.login.account, clock.now());
  if (wait === 0) return;
  meter.count('imap_commands_delayed_total');
  session.output.flush();
  await clock.sleep(wait);
}

async function decide(session: Session, read: Read): Promise<Answer> {
  try {
    if (read.wrong !== undefined) return read.wrong;
    const command = read.command as ImapCommand<unknown>;
    if (command.changes === true && session.login?.readOnly === true) {
      return no('NOPERM', 'This password is for reading only');
    }
    return await command.run(session, read.given, read.call);
  } catch (error) {
    if (error instanceof ImapSyntaxError) return bad(error.reason);
    if (error instanceof Disconnected || !session.connected) throw error;
    if (error instanceof StoreBusy) return no('UNAVAILABLE', 'Cannot be done now, try again later');
    fault(session, error, read.command?.name);
    return no('SERVERBUG', 'Something went wrong on our side; it was logged');
  }
}

/** Counts an answer and does what follows from it. */
function settle(session: Session, command: ImapCommand<unknown> | undefined, decided: Answer): void {
  const { limits, meter } = session.door;
  session.commands += 1;
  if (decided.kind === 'bad') session.badCommands += 1;
  meter.count('imap_commands_total', { command: command?.name ?? 'unknown', answer: decided.kind });
  if (decided.next === 'close') session.close();
  else if (decided.next === 'tls') startTls(session);
  else if (session.badCommands >= limits.badCommands) dismiss(session, 'Too many commands that cannot be understood');
  else if (session.failedLogins >= limits.failedLogins) dismiss(session, 'Too many failed logins');
  else if (session.login === undefined && session.commands >= limits.commandsBeforeLogin) {
    dismiss(session, 'Too many commands before login');
  }
}

function dismiss(session: Session, text: string): void {
  if (session.login === undefined && session.badCommands > 0) session.door.guard.offended(session.ip, 'scans');
  session.door.meter.count('imap_sessions_dropped_total', { reason: 'limit' });
  session.bye(text, 'LIMIT');
}

function fault(session: Session, error: unknown, command = 'unknown'): void {
  session.door.meter.count('imap_faults_total', { command });
  session.door.log.error(
    { err: error, account: session.login?.account, ip: session.ip, command },
    'IMAP command failed',
  );
}
