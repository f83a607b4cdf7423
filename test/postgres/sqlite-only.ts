const FILE = 'its tests open, change or damage the file mailstead.db';
const COPIES = 'it copies the files of the embedded database';
const PLANS = 'it reads plans, counters or the log of SQLite';

/** Contract files that run on SQLite only, with the reason. */
export const SQLITE_ONLY: ReadonlyMap<string, string> = new Map([
  ...['change-index', 'full-text', 'training', 'message-index', 'schema', 'text-merge'].map(
    (name): [string, string] => [name, FILE],
  ),
  ...['backup', 'backup-restore', 'log-shipping', 'restored-ids', 'text-rest'].map((name): [string, string] => [
    name,
    COPIES,
  ]),
  ...['agent-hold-plans', 'email-plans', 'flag-log', 'message-cost', 'range-flags'].map((name): [string, string] => [
    name,
    PLANS,
  ]),
]);
