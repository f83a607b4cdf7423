import type { Migration } from './migrate.ts';
import type { ReportUpgrade } from './upgrade-step.ts';
import type { Command, Stamp, WakeUp, WriteHooks } from './types.ts';

/** A command for the writer. */
export interface WriteJob {
  id: number;
  name: string;
  input: unknown;
  stamp: Stamp;
  /** True: low priority, after all others of a batch. */
  slice: boolean;
}

/** An error as a value, since an Error loses its class and code between threads. */
export interface Failure {
  message: string;
  /** `disk-full`, `bucket` and `database`: try later, nothing was stored; `fault`: a bug or corruption. */
  reason: 'disk-full' | 'bucket' | 'database' | 'fault';
  stack: string;
}

export type WriteResponse = { id: number; ok: true; value: unknown } | { id: number; ok: false; failure: Failure };

/** Callbacks of a writer to its thread. */
export interface WriterHost {
  /** Returns jobs that arrived meanwhile, without waiting. */
  more(): WriteJob[];
  answer(answers: WriteResponse[], wakeUps: WakeUp[]): void;
  /** Called when the database is no longer reliable: pending requests get "try later" and the process must end. */
  fatal(failure: Failure): void;
  /** Called when the queue is empty. */
  idle(): void;
  /** Called before each step of a change of the tables at the start. */
  upgrading?: ReportUpgrade | undefined;
}

/** Commands and migrations of a writer. */
export interface WriterParts {
  commands: readonly Command<never, unknown>[];
  hooks: WriteHooks;
  migrations: readonly Migration[];
}

/** A writer of either engine. */
export interface CommandWriter {
  submit(jobs: readonly WriteJob[]): void;
  /** Closes the database; called when the queue is empty. */
  close(): Promise<void> | void;
}

export function asFailure(error: unknown, reason: Failure['reason']): Failure {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { message, stack: stack ?? '', reason };
}
