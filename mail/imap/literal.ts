import type { Session } from './session.ts';
import type { ReaderProblem } from './wire/line-reader.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

/**
 * The octets of the message that a command announced, as they come; asks for them first when the client waits for that.
 * Returns after the end of the command. Rejects with Disconnected, or with ImapSyntaxError when something follows.
 */
export async function* messageLiteral(session: Session, sync: boolean): AsyncGenerator<Buffer> {
  session.reader.accept();
  if (sync) session.prompt('Ready for the message');
  for (;;) {
    const event = session.reader.next();
    if (event === undefined) {
      await session.moreInput();
    } else if (event.kind === 'literal-data') {
      yield event.bytes;
    } else if (event.kind === 'append-end') {
      session.readingLiteral = false;
      if (event.rest.length > 0) throw new ImapSyntaxError('Nothing may follow the message');
      return;
    } else if (event.kind === 'problem') {
      giveUp(session, event);
    } else {
      throw new ImapSyntaxError('One message at a time');
    }
  }
}

/** Reads over what a command left of its message: if it stayed, it would be taken for commands. */
export async function skipLiteral(session: Session): Promise<void> {
  if (!session.readingLiteral) return;
  session.reader.refuse();
  while (session.readingLiteral) {
    const event = session.reader.next();
    if (event === undefined) await session.moreInput();
    else if (event.kind === 'problem') session.readingLiteral = false;
    else if (event.kind === 'refused') session.readingLiteral = false;
    if (event?.kind === 'problem' && event.fatal) session.bye(event.text);
  }
}

function giveUp(session: Session, problem: ReaderProblem): never {
  session.readingLiteral = false;
  if (problem.fatal) session.bye(problem.text);
  throw new ImapSyntaxError(problem.text);
}
