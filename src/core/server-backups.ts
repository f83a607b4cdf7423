/** Long commands for backups; one runs at a time. */
export type BackupTask = 'backup' | 'verification';

/** Backups of this server to the target of its settings. */
export interface ServerBackups {
  /** The task that runs now, and its begin in ms UTC. */
  readonly running: { readonly task: BackupTask; readonly since: number } | undefined;
  /** Starts a task and returns at once. False: another one runs. */
  start(task: BackupTask): boolean;
}
