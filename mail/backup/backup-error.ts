/** A backup or restore that cannot go on: one sentence with its cause, and what to do next. */
export class BackupProblem extends Error {
  override readonly name = 'BackupProblem';
}

/** Text of an error, for a sentence about it. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' ? `${error.message} (${cause.message})` : error.message;
}

/** True for a disk without space. */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
