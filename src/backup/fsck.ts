import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import { BackupProblem } from '../../mail/backup/backup-error.ts';
import { checkStore, isSound, type StoreCheck } from '../../mail/store/check/check-store.ts';
import type { DamagedMessage } from '../../mail/store/check/damaged-messages.ts';
import { keyFileOf, withIndex } from './backup-commands.ts';
import { bucketOfDirectory } from './open-message-bucket.ts';

/** A check of a data directory, and the snapshot that has what is damaged. */
export interface FsckResult extends StoreCheck {
  ok: boolean;
  dataDir: string;
  /** Newest snapshot that could be read, and its target; null: no target was named. */
  backup: { target: string; snapshot: string; at: number } | null;
}

/** Checks the data directory. `target`: default is that of the settings. */
export async function checkDataDirectory(
  dataDir: string,
  settings: Settings,
  target = settings.backup.target,
): Promise<FsckResult> {
  if (!existsSync(join(dataDir, 'mailstead.db'))) {
    throw new BackupProblem(`There is no database in ${dataDir}. Set MAILSTEAD_DATA_DIR or --data-dir.`);
  }
  const check = await checkStore(dataDir, await bucketOfDirectory(dataDir, settings, keyFileOf(settings, dataDir)));
  const sound = isSound(check);
  const backup = sound || target === undefined ? null : await newestSnapshot(target, settings, dataDir);
  return { ok: sound, dataDir, ...check, backup };
}

async function newestSnapshot(target: string, settings: Settings, dataDir: string): Promise<FsckResult['backup']> {
  return withIndex(target, settings, dataDir, async (repository) => {
    const newest = (await repository.readableManifests()).manifests.at(-1);
    return newest === undefined ? null : { target, snapshot: newest.id, at: newest.at };
  });
}

const PROBLEMS: Readonly<Record<DamagedMessage['problem'], string>> = {
  missing: 'its file is missing',
  short: 'it is cut off',
  changed: 'its octets changed',
  unreadable: 'it cannot be read',
};

/** Result as text. */
export function fsckText(found: FsckResult): string {
  const { checked, withoutHash, damaged, damagedMessages, database, inconsistencies, unreferencedFiles, backup } =
    found;
  const addresses = [...new Set(damagedMessages.map(({ address }) => address))];
  return [
    `${checked} stored messages read, ${damaged} damaged${withoutHash > 0 ? `; ${withoutHash} were stored before hashes were, so only their size was compared` : ''}.`,
    database.length === 0 ? 'The database is whole.' : `The database is damaged:`,
    ...database,
    ...inconsistencies.map((text) => `${text}.`),
    ...damagedMessages.map(
      ({ address, folder, uid, subject, receivedAt, problem }) =>
        `${address} ${folder || '(no folder)'} UID ${uid}, ${new Date(receivedAt).toISOString()}, ${JSON.stringify(subject)}: ${PROBLEMS[problem]}.`,
    ),
    ...(unreferencedFiles > 0 ? [`${unreferencedFiles} files belong to no message; the server removes them.`] : []),
    ...(backup === null
      ? []
      : [
          `Snapshot ${backup.snapshot} of ${new Date(backup.at).toISOString()} is in ${backup.target}.`,
          ...addresses.map((address) => `Restore with: mailstead restore ${backup.target} --mailbox ${address}`),
        ]),
    ...(found.ok || backup !== null ? [] : ['Name a backup with --backup TARGET to see what can be restored.']),
  ].join('\n');
}
