import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { StoreBusy } from '../../store/engine/types.ts';
import type { MessageRow } from '../imap-store.ts';
import type { Session } from '../session.ts';
import type { FetchRequest } from './items.ts';
import { readAhead } from './read-ahead.ts';
import { writeRead } from './render-read.ts';
import { type FetchResponse, renderFetch } from './render.ts';

/** Writes messages with octets of theirs as fast as the client reads. */
export async function writeContents(
  session: Session,
  rows: readonly MessageRow[],
  request: FetchRequest,
  responseTo: (row: MessageRow) => FetchResponse,
): Promise<void> {
  for await (const group of readAhead(session.store, rows, request)) {
    for (const { row, blob } of group) {
      await session.view.noteLabels(session.store);
      await writeContent(session, responseTo(row), blob);
      const pause = pauseOf(session);
      if (pause !== undefined) await pause;
    }
  }
}

async function writeContent(session: Session, response: FetchResponse, blob: Buffer | undefined): Promise<void> {
  let isBegun = false;
  const write = (piece: string | Buffer): void => {
    isBegun = true;
    session.write(piece);
  };
  try {
    if (blob === undefined || !writeRead(response, blob, write)) await writePieces(session, response, write);
  } catch (error) {
    // A bucket that does not answer: the command fails, and the next one may succeed.
    if (!isBegun && error instanceof StoreBusy) throw error;
    // The response is incomplete, possibly within a literal: anything written now would be parsed as its rest.
    session.terminate('Failed to read a message');
    throw error;
  }
}

/** Writes a message in pieces, each read when the client has room for it. */
async function writePieces(
  session: Session,
  { request, message }: FetchResponse,
  write: (piece: string | Buffer) => void,
): Promise<void> {
  for await (const piece of renderFetch(request, message)) {
    write(piece);
    await session.drained();
    await yieldToEventLoop(session.login?.account);
  }
}

/** Waits for the client, or for other sessions; undefined: go on. */
function pauseOf(session: Session): Promise<void> | undefined {
  return session.drained() ?? yieldToEventLoop(session.login?.account);
}
