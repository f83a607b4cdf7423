const FILE = 'its tests open, change or damage the file mailstead.db';
const COPIES = 'it copies the files of the embedded database';
const PLANS = 'it reads plans, counters or the log of SQLite';

/** Contract files that run on SQLite only, with the reason. */
export const SQLITE_ONLY: ReadonlyMap<string, string> = new Map([
  ...['change-index', 'full-text', 'training', 'message-index', 'schema', 'text-merge'].map(
    (name): [string, string] => [name, FILE],
  ),
  ...['backup', 'backup-restore', 'log-shipping', 'move-everything', 'restored-ids', 'text-rest'].map(
    (name): [string, string] => [name, COPIES],
  ),
  ...['agent-hold-plans', 'email-plans', 'flag-log', 'message-cost', 'range-flags'].map((name): [string, string] => [
    name,
    PLANS,
  ]),
]);

const BACKUPS = 'mailstead backup is for the embedded database, and is refused in words on PostgreSQL';
const OWN = 'it starts a PostgreSQL of its own, whatever the engine of the others is';

/** Journeys that run in the suites of SQLite only, with the reason. */
export const JOURNEYS_ON_SQLITE: ReadonlyMap<string, string> = new Map([
  ...['recipient-backups', 'restore-while-receiving', 'server-backups'].map((name): [string, string] => [
    name,
    BACKUPS,
  ]),
  ...['nodes', 'postgres', 'postgres-move', 'postgres-restore'].map((name): [string, string] => [name, OWN]),
]);
