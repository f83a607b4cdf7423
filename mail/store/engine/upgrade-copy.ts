import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDirectorySync } from './make-directory.ts';
import type { ReportUpgrade } from './upgrade-step.ts';
import { appliedMigrations, type Migration, planMigrations, planProblem } from './migrate.ts';

/** Directory of the copies, in the data directory. */
export const UPGRADE_COPIES = 'before-upgrade';
const MAX_COPIES = 2;
/** Room that stays free beside the copy. */
const SPARE_OCTETS = 64 * 1024 * 1024;

/**
 * Copies a database whose schema is about to change, so that the version before can be started again. Large messages are
 * files that no migration touches, so they are not copied. Returns the path of the copy; undefined: nothing changes.
 */
export function copyBeforeUpgrade(
  path: string,
  migrations: readonly Migration[],
  report: ReportUpgrade = () => undefined,
): string | undefined {
  if (!existsSync(path)) return undefined;
  const db = new DatabaseSync(path, { timeout: 5_000 });
  try {
    const applied = appliedMigrations((sql) => db.prepare(sql).all());
    const plan = planMigrations(applied, migrations);
    if (applied.length === 0 || plan.pending.length === 0 || planProblem(plan) !== undefined) return undefined;
    const version = `mail-${lastOf(applied, 'mail')}-appliance-${lastOf(applied, 'appliance')}`;
    return copyDatabase(db, path, version, report);
  } finally {
    db.close();
  }
}

function lastOf(applied: readonly { ledger: string; number: number }[], ledger: string): number {
  return Math.max(0, ...applied.filter((row) => row.ledger === ledger).map((row) => row.number));
}

function copyDatabase(db: DatabaseSync, path: string, version: string, report: ReportUpgrade): string {
  const directory = join(dirname(path), UPGRADE_COPIES);
  makeDirectorySync(directory);
  removeOld(directory, MAX_COPIES - 1);
  requireSpace(db, directory);
  const copy = join(directory, `${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}-${version}.db`);
  const draft = `${copy}.tmp`;
  report({ kind: 'copy', draft, octets: databaseOctets(db) });
  try {
    db.prepare('VACUUM INTO ?').run(draft);
    flush(draft);
    renameSync(draft, copy);
    flush(directory);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new Error(`The database could not be copied to ${directory} before the upgrade: free disk space`, {
      cause: error,
    });
  }
  return copy;
}

/** Removes all but the newest copies, and drafts of a start that was killed. */
function removeOld(directory: string, kept: number): void {
  const names = readdirSync(directory).sort();
  const whole = names.filter((name) => name.endsWith('.db'));
  const old = whole.slice(0, Math.max(0, whole.length - kept));
  for (const name of [...names.filter((one) => one.includes('.tmp')), ...old]) rmSync(join(directory, name));
}

/** Size of a database, with what is still in its log. */
export function databaseOctets(db: DatabaseSync): number {
  const row = db.prepare('SELECT page_count * page_size AS octets FROM pragma_page_count, pragma_page_size').get();
  return Number(row?.['octets']);
}

function requireSpace(db: DatabaseSync, directory: string): void {
  const needed = databaseOctets(db) + SPARE_OCTETS;
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize >= needed) return;
  const [free, want] = [bavail * bsize, needed].map((octets) => `${Math.ceil(octets / 1_048_576)} MiB`);
  throw new Error(
    `This version changes the tables, and copies the database first: that needs ${want}, and the disk has ${free} free. Free disk space, then start again`,
  );
}

function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
