import type { Session } from './session.ts';

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
