import { existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BackupProblem } from '../../mail/backup/backup-error.ts';
import { appliedMigrations, planMigrations, planProblem } from '../../mail/store/engine/migrate.ts';
import { databaseOctets, UPGRADE_COPIES } from '../../mail/store/engine/upgrade-copy.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { applianceMigrations } from '../core/migrations.ts';
import { version } from '../core/version.ts';

export interface UpgradeCheck {
  /** False: this version does not start on the directory. */
  possible: boolean;
  version: string;
  dataDir: string;
  /** Migrations that a start would apply. */
  pending: string[];
  applied: string[];
  /** Reason why it is not possible; null: it is. */
  problem: string | null;
  /** Octets of the database, which is copied before it is changed. */
  databaseOctets: number;
  freeOctets: number;
}

/** Reports what a start of this version would do to a data directory. Changes nothing. */
export function checkUpgrade(dataDir: string): UpgradeCheck {
  const path = join(dataDir, 'mailstead.db');
  if (!existsSync(path)) {
    throw new BackupProblem(`There is no database in ${dataDir}. Set MAILSTEAD_DATA_DIR or --data-dir.`);
  }
  const db = new DatabaseSync(path, { timeout: 5_000 });
  try {
    db.exec('PRAGMA query_only = 1');
    const applied = appliedMigrations((sql) => db.prepare(sql).all());
    const plan = planMigrations(applied, [...mailMigrations(), ...applianceMigrations()]);
    const octets = databaseOctets(db);
    const { bavail, bsize } = statfsSync(dataDir);
    const problem = planProblem(plan) ?? spaceProblem(plan.pending, octets, bavail * bsize);
    return {
      possible: problem === undefined,
      version: version(),
      dataDir,
      pending: plan.pending,
      applied: plan.applied,
      problem: problem ?? null,
      databaseOctets: octets,
      freeOctets: bavail * bsize,
    };
  } finally {
    db.close();
  }
}

function spaceProblem(pending: readonly string[], needed: number, free: number): string | undefined {
  if (pending.length === 0 || free > needed + 64 * 1024 * 1024) return undefined;
  return 'The disk has no room for the copy that is made before the tables change: free disk space';
}

/** Result as text. */
export function upgradeText({ problem, pending, version: own, databaseOctets, dataDir }: UpgradeCheck): string {
  if (problem !== null) return `Mailstead ${own} does not start on ${dataDir}. ${problem}.`;
  if (pending.length === 0) return `Mailstead ${own} starts on ${dataDir} without changes of its tables.`;
  const size = `${Math.ceil(databaseOctets / 1_048_576)} MiB`;
  return [
    `Mailstead ${own} would change the tables of ${dataDir}: ${pending.join(', ')}.`,
    `It copies the database (${size}) to ${join(dataDir, UPGRADE_COPIES)} first. An older version does not start on the changed tables.`,
  ].join('\n');
}
