import type { DedicatedConnection } from './dedicated.ts';
import { ConnectTimeout, limited } from './time-limit.ts';

/** Times to wait for the database, ms. */
export interface WriterPatience {
  /** Silence after which a connection is lost: the network may drop what is sent without an error. */
  silent: number;
  /** Time in which the database must report a commit whose reply was lost. */
  unknown: number;
}

export const PATIENCE: WriterPatience = { silent: 20_000, unknown: 60_000 };
/** Number of looks at the replies in the longest silence. */
const LOOKS = 10;

/** Closes a connection on which no reply came for `limit` ms, so that its statements fail. Returns the timer. */
export function endSilence(connection: DedicatedConnection, limit: number): NodeJS.Timeout {
  let heard = connection.statements.replies;
  let silentLooks = 0;
  return setInterval(() => {
    const { replies } = connection.statements;
    silentLooks = replies === heard ? silentLooks + 1 : 0;
    heard = replies;
    if (silentLooks >= LOOKS - 1) void connection.close();
  }, limit / LOOKS);
}

/** Rejects if connecting takes too long; a connection that is opened later is closed. */
export async function inTime(opening: Promise<DedicatedConnection>, limit: number): Promise<DedicatedConnection> {
  try {
    return await limited(opening, limit);
  } catch (error) {
    if (error instanceof ConnectTimeout) {
      void opening.then(
        (connection) => connection.close(),
        () => undefined,
      );
    }
    throw error;
  }
}
