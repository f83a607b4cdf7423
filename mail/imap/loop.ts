import { StoreBusy } from '../store/engine/types.ts';
import { bad, no } from './tagged-response.ts';
import type { TaggedResponse } from './tagged-response.ts';
import type { CommandCall, ImapCommand } from './command.ts';
import { COMMANDS_BY_VERB } from './commands/index.ts';
import { skipLiteral } from './literal.ts';
import { Disconnected } from './output.ts';
import { yieldToEventLoop } from '../limits/event-loop.ts';
import type { Session } from './session.ts';
import { startTls } from './sockets.ts';
import { writeUpdates } from './notify/session-updates.ts';
import { Decoder } from './wire/decoder.ts';
import { statusLine } from './wire/encoder.ts';
import type { ReaderEvent } from './wire/command-reader.ts';
import { ImapSyntaxError, InvalidNameError } from './wire/syntax-error.ts';

function syntaxResponse(error: ImapSyntaxError): TaggedResponse {
  const { reason, code } = error;
  if (error instanceof InvalidNameError) return no('CANNOT', reason);
  return code === undefined ? bad(reason) : bad(code, reason);
}

const UID_REQUIRED = bad('UIDREQUIRED', 'Use the UID form: UIDONLY is enabled');

/** Nested lists in one command after login. */
const MAX_OPEN_LISTS = 50;

type Literal = Extract<ReaderEvent, { kind: 'append-literal' }>;

/** A parsed command, or the response to an invalid one. */
interface ParsedCommand {
  readonly call: CommandCall;
  readonly command: ImapCommand<unknown> | undefined;
  readonly args: unknown;
  readonly error: TaggedResponse | undefined;
}

/**
 * Runs the commands that a client sent, one at a time; the only code that writes responses, counts, logs and closes.
 * Returns when the input is used up; an idle session keeps no coroutine in memory.
 */
export async function runSession(session: Session): Promise<void> {
  if (session.busy) return;
  session.busy = true;
  try {
    await runCommands(session);
  } catch (error) {
    if (!(error instanceof Disconnected)) logFault(session, error);
    // The response may be incomplete: the client would parse anything that follows as its rest.
    session.socket.destroy();
  } finally {
    session.busy = false;
    awaitInput(session);
  }
}

async function runCommands(session: Session): Promise<void> {
  for (let count = 0; session.open; count += 1) {
    const event = session.reader.next();
    if (event === undefined) return;
    if (count > 0) await yieldToEventLoop(session.login?.account);
    await onInput(session, event);
    await session.drained();
    session.sendPendingBye();
  }
}

function awaitInput(session: Session): void {
  if (!session.connected) {
    session.dispose();
    return;
  }
  session.sendPendingBye();
  if (!session.open) return;
  session.output.flush();
  session.countInput();
  if (!session.open) return;
  session.input.resume();
  // Changes since the end of the command have no other event.
  if (session.notifications !== undefined) session.context.idleNotifier.add(session);
}

async function onInput(session: Session, event: ReaderEvent): Promise<void> {
  switch (event.kind) {
    case 'command':
      return respond(session, event.bytes, undefined);
    case 'append-literal':
      return respond(session, event.head, event);
    case 'need-continuation':
      return session.sendContinuation();
    case 'problem':
      return rejectInput(session, event);
    case 'literal-data':
    case 'append-end':
    case 'refused':
      throw new Error(`${event.kind} without an open literal`);
  }
}

function rejectInput(session: Session, problem: { tag: string; text: string; fatal: boolean }): void {
  if (problem.fatal) {
    session.write(statusLine('*', 'BYE', undefined, problem.text));
    session.close();
    return;
  }
  session.write(statusLine(problem.tag, 'BAD', 'TOOBIG', problem.text));
  finishCommand(session, undefined, bad(problem.text));
}

async function respond(session: Session, bytes: Buffer, literal: Literal | undefined): Promise<void> {
  const read = parseCommand(session, bytes, literal);
  session.readingLiteral = literal !== undefined;
  await delayCommand(session);
  await session.notifications?.settled();
  const response = await execute(session, read);
  if (literal !== undefined) await skipLiteral(session);
  // RFC 9051 7.5.1. An invalid command may have been FETCH, STORE or SEARCH, so it allows no EXPUNGE.
  const allowed = read.call.uid ? 'all' : (read.command?.allowedUpdates ?? 'all');
  // STORE writes its own responses.
  const isChange = read.command?.changes === true && read.command.name !== 'STORE';
  await writeUpdates(session, response.kind === 'bad' ? 'no-expunge' : allowed, isChange);
  session.write(statusLine(read.call.tag, STATUS[response.kind], response.code, response.text));
  finishCommand(session, read.command, response);
}

const STATUS = { ok: 'OK', no: 'NO', bad: 'BAD' } as const;

/** Parses tag, name and arguments. A syntax error becomes a tagged BAD. */
function parseCommand(session: Session, bytes: Buffer, literal: Literal | undefined): ParsedCommand {
  const d = new Decoder(bytes, { utf8: session.utf8, lists: session.login === undefined ? 1 : MAX_OPEN_LISTS });
  let call: CommandCall = { tag: '*', uid: false, literal };
  let command: ImapCommand<unknown> | undefined;
  try {
    call = { ...call, tag: d.tag() };
    const name = d.sp().word();
    if (name === 'UID') call = { ...call, uid: true };
    command = COMMANDS_BY_VERB.get(call.uid ? `UID ${d.sp().word()}` : name);
    const error = command === undefined ? bad('Unknown command') : checkState(session, command, call.uid);
    if (error !== undefined) return { call, command, args: undefined, error };
    const args = command?.parse(d, call.uid);
    d.end();
    return { call, command, args, error: undefined };
  } catch (error) {
    if (!(error instanceof ImapSyntaxError)) throw error;
    return { call, command, args: undefined, error: syntaxResponse(error) };
  }
}

function checkState(session: Session, command: ImapCommand<unknown>, uid: boolean): TaggedResponse | undefined {
  if (command.states.includes(session.state)) return namesByUid(session, command, uid) ? undefined : UID_REQUIRED;
  if (session.state === 'not-authenticated') return bad('Not allowed before login');
  return bad(
    session.state === 'authenticated' && command.states.includes('selected')
      ? 'No mailbox selected'
      : 'Already logged in',
  );
}

/** RFC 9586 3: after ENABLE UIDONLY messages have no sequence numbers. EXPUNGE names none. */
function namesByUid({ enabled }: Session, { uidForm, name }: ImapCommand<unknown>, uid: boolean): boolean {
  return uid || uidForm !== true || name === 'EXPUNGE' || !enabled.has('UIDONLY');
}

/** Delays commands above the rate limit. They are not refused: clients retry refusals at once. */
async function delayCommand(session: Session): Promise<void> {
  if (session.login === undefined || session.exempt) return;
  const { accounts, clock, meter } = session.context;
  const wait = accounts.commandDelay(session.login.account, clock.now());
  if (wait === 0) return;
  meter.count('imap_commands_delayed_total');
  session.output.flush();
  await clock.sleep(wait);
}

async function execute(session: Session, read: ParsedCommand): Promise<TaggedResponse> {
  try {
    if (read.error !== undefined) return read.error;
    const command = read.command as ImapCommand<unknown>;
    if (command.changes === true && session.login?.readOnly === true) {
      return no('NOPERM', 'This password is read-only');
    }
    return await command.run(session, read.args, read.call);
  } catch (error) {
    if (error instanceof ImapSyntaxError) return syntaxResponse(error);
    if (error instanceof Disconnected || !session.connected) throw error;
    if (error instanceof StoreBusy) return no('UNAVAILABLE', 'Storage is busy. Try again later');
    logFault(session, error, read.command?.name);
    return no('SERVERBUG', 'Internal error, logged on the server');
  }
}

/** Counts a response, then starts TLS or closes when it says so or a limit is reached. */
function finishCommand(session: Session, command: ImapCommand<unknown> | undefined, response: TaggedResponse): void {
  const { limits, meter } = session.context;
  session.commands += 1;
  if (response.kind === 'bad') session.badCommands += 1;
  meter.count('imap_commands_total', { command: command?.name ?? 'unknown', answer: response.kind });
  if (response.next === 'close') session.close();
  else if (response.next === 'tls') startTls(session);
  else if (response.next === 'compress') session.startCompression();
  else if (session.badCommands >= limits.badCommands) closeForLimit(session, 'Too many invalid commands');
  else if (session.failedLogins >= limits.failedLogins) closeForLimit(session, 'Too many failed logins');
  else if (session.login === undefined && session.commands >= limits.commandsBeforeLogin) {
    closeForLimit(session, 'Too many commands before login');
  }
}

function closeForLimit(session: Session, text: string): void {
  if (session.login === undefined && session.badCommands > 0) session.context.guard.addOffence(session.ip, 'scans');
  session.context.meter.count('imap_sessions_dropped_total', { reason: 'limit' });
  session.bye(text, 'LIMIT');
}

function logFault(session: Session, error: unknown, command = 'unknown'): void {
  session.context.meter.count('imap_faults_total', { command });
  session.context.log.error(
    { err: error, account: session.login?.account, ip: session.ip, command },
    'failed to run IMAP command',
  );
}
