import type { Session } from './session.ts';
import type { ReaderProblem } from './wire/command-reader.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

/**
 * Yields the octets of APPEND's message literal as they arrive, after a continuation when the literal is synchronizing.
 * Returns after the end of the command. Rejects with Disconnected, or with ImapSyntaxError when something follows.
 */
export async function* messageLiteral(session: Session, sync: boolean): AsyncGenerator<Buffer> {
  session.reader.accept();
  if (sync) session.sendContinuation('Ready for the message');
  for (;;) {
    const event = session.reader.next();
    if (event === undefined) {
      await session.waitForInput();
    } else if (event.kind === 'literal-data') {
      yield event.bytes;
    } else if (event.kind === 'append-end') {
      session.readingLiteral = false;
      if (event.rest.length > 0) throw new ImapSyntaxError('Unexpected text after the message literal');
      return;
    } else if (event.kind === 'problem') {
      failLiteral(session, event);
    } else {
      throw new ImapSyntaxError('MULTIAPPEND is not supported: send one message per APPEND');
    }
  }
}

/** Discards the unread rest of a message literal, which would otherwise be parsed as commands. */
export async function skipLiteral(session: Session): Promise<void> {
  if (!session.readingLiteral) return;
  session.reader.refuse();
  while (session.readingLiteral) {
    const event = session.reader.next();
    if (event === undefined) await session.waitForInput();
    else if (event.kind === 'problem') session.readingLiteral = false;
    else if (event.kind === 'refused') session.readingLiteral = false;
    if (event?.kind === 'problem' && event.fatal) session.bye(event.text);
  }
}

function failLiteral(session: Session, problem: ReaderProblem): never {
  session.readingLiteral = false;
  if (problem.fatal) session.bye(problem.text);
  throw new ImapSyntaxError(problem.text);
}
