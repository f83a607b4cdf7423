import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openKeyFile } from '../../mail/store/blob/key-file.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import { BucketMismatch, bucketOf, RemoteFiles } from '../../mail/store/bucket/remote-files.ts';
import { markDatabase, markedDatabase, unmarkDatabase } from '../../mail/store/engine/database-marker.ts';
import { getSetting, setSetting } from '../../mail/store/setting.ts';
import { MailStore } from '../../mail/store/store.ts';
import type { Settings } from '../../config/settings.ts';
import { databaseUrl } from '../core/database-url.ts';
import { missingSetting, openMessageBucket } from '../backup/open-message-bucket.ts';
import { secretLinksOf } from '../notices/secret-pages.ts';
import { memoryShares } from './memory-shares.ts';
import { renewRestoredDatabase } from './restored-database.ts';
import { CannotStart, type StartOptions } from './options.ts';
import { UpgradeProgress } from './upgrade-progress.ts';

export interface StorageServices {
  store: MailStore;
  secrets: SecretBox;
}

/** Opens the store and the box that seals its secrets. */
export async function createStorage(options: StartOptions, stack: AsyncDisposableStack): Promise<StorageServices> {
  const store = stack.use(await openStore(options));
  const secrets = await openSecrets(options.settings, store);
  await renewRestoredDatabase(store, options.log);
  const { database, dataDir } = options.settings;
  if (database === undefined) unmarkDatabase(dataDir);
  else markDatabase(dataDir, database.url);
  await attachBucket(options, store, secrets);
  return { store, secrets };
}

/** Opens the store, and brings its tables up to date. */
async function openStore({ settings, log, metrics, clock, fatal, keepFree }: StartOptions): Promise<MailStore> {
  requireOneDatabase(settings);
  await using progress = new UpgradeProgress({ log, hosts: settings.listen, port: settings.ports.http });
  return await MailStore.open({
    dataDir: settings.dataDir,
    database: await databaseUrl(settings).catch(({ message }: Error) => {
      throw new CannotStart(message);
    }),
    node: settings.node,
    engine: new URL('./store-thread.ts', import.meta.url),
    keepFree: keepFree ?? Math.max(100 * 1024 * 1024, 2 * settings.maxMessageBytes),
    readerHeapMb: memoryShares(settings.memoryMb).readerHeapMb,
    secretLinks: secretLinksOf(settings),
    clock,
    log,
    meter: metrics,
    fatal,
    upgrading: (step) => progress.report(step),
  });
}

/** Throws if the mail of the data directory is in another database than that of the settings: it would seem to be gone. */
function requireOneDatabase({ database, dataDir }: Settings): void {
  const marked = markedDatabase(dataDir);
  if (database === undefined && marked !== undefined) {
    throw new CannotStart(
      `The mail of ${dataDir} is in ${marked.database}, and MAILSTEAD_DATABASE is not set: without it the server would be empty and refuse mail to all its addresses. Set MAILSTEAD_DATABASE, or carry the mail back with mailstead move --to sqlite (docs/scaling.md).`,
    );
  }
  if (database === undefined || !existsSync(join(dataDir, 'mailstead.db'))) return;
  throw new CannotStart(
    `${dataDir} has an embedded database (mailstead.db), and MAILSTEAD_DATABASE is set. Unset it, or carry the mail over with mailstead move --to postgres://... (docs/scaling.md).`,
  );
}

/** Attaches the bucket of large messages, before the first of them is read or written. */
async function attachBucket({ settings, log, metrics }: StartOptions, store: MailStore, secrets: SecretBox) {
  const { dataDir, blobs } = settings;
  const bucket = openMessageBucket(blobs, secrets);
  if (bucket === undefined) {
    const used = bucketOf(dataDir);
    if (used !== undefined) throw new CannotStart(missingSetting(used.bucket));
    return;
  }
  if ('problem' in bucket) throw new CannotStart(bucket.problem);
  const owner = store.nodes === undefined ? undefined : await sharedOwner(store);
  const options = {
    bucket,
    dataDir,
    ...(owner !== undefined && { owner }),
    cacheLimit: blobs.cacheMb * 1_048_576,
    log,
    meter: metrics,
  };
  try {
    store.files.attach(await RemoteFiles.open(options));
  } catch (error) {
    if (error instanceof BucketMismatch) throw new CannotStart(error.message);
    throw error;
  }
}

/** Id by which all nodes of the database own the bucket. The first node that starts chooses it. */
async function sharedOwner(store: MailStore): Promise<string> {
  const name = 'bucket-owner';
  await store.write(setSetting, { name, value: Uint8Array.from(randomBytes(16)) });
  return Buffer.from((await store.read(getSetting, { name })) ?? []).toString('hex');
}

/** The key file belongs to the database: a missing or a foreign one stops the start, and never becomes a new one. */
async function openSecrets(settings: Settings, store: MailStore): Promise<SecretBox> {
  const check = await store.read(getSetting, { name: 'key-check' });
  if (check === undefined) requireNewDirectory(settings);
  const box = await openKeyFile(settings.keyFile, { create: check === undefined });
  if ('problem' in box) throw new CannotStart(box.problem);
  const known = check ?? (await firstCheck(store, box));
  if (!box.verifyCheck(Buffer.from(known))) {
    throw new CannotStart(
      `The key file ${settings.keyFile} does not belong to this database: restore the right one, or set MAILSTEAD_KEY_FILE to its path. Nodes of one database have copies of one key file.`,
    );
  }
  return box;
}

/** Throws if the data directory belongs to a database with mail: the setting names an empty one. */
function requireNewDirectory({ database, dataDir }: Settings): void {
  const marked = markedDatabase(dataDir);
  if (database === undefined || marked === undefined) return;
  throw new CannotStart(
    `The database of MAILSTEAD_DATABASE is empty, and the mail of ${dataDir} is in ${marked.database}. Set MAILSTEAD_DATABASE to that database, or restore its dump first. For a new server use another data directory (docs/scaling.md).`,
  );
}

/** Stores the check value of a new key. Of nodes that start at once the first one is right. */
async function firstCheck(store: MailStore, box: SecretBox): Promise<Uint8Array> {
  const name = 'key-check';
  await store.write(setSetting, { name, value: Uint8Array.from(box.checkValue()) });
  return (await store.read(getSetting, { name })) ?? new Uint8Array();
}
