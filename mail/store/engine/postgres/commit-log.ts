import type { WakeUp } from '../types.ts';

/** A message between nodes that no table has, such as a session to be closed. Plain data. */
export interface NodeSignal {
  readonly kind: string;
  readonly [field: string]: string | number | undefined;
}

/** Changes of a commit, for the other nodes. */
export interface LoggedChanges {
  wakeUps?: readonly WakeUp[];
  signals?: readonly NodeSignal[];
}

/** Returns the text of a row of the log. Ranges of flags are left out: the other nodes read the messages again. */
export function loggedChanges({ wakeUps = [], signals = [] }: LoggedChanges): string {
  return JSON.stringify({ wakeUps: wakeUps.map(({ flags: _, ...wakeUp }) => wakeUp), signals });
}

/** Reads a row of the log. */
export function readChanges(text: string): Required<LoggedChanges> {
  return JSON.parse(text) as Required<LoggedChanges>;
}
