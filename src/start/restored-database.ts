import type { Log } from '../../mail/log.ts';
import { recognizeDatabase } from '../../mail/store/account/restored-database.ts';
import { isPostgres } from '../../mail/store/engine/postgres/url.ts';
import type { MailStore } from '../../mail/store/store.ts';

/**
 * Begins a new numbering of messages if the database on PostgreSQL was restored from a dump. A restore of the embedded
 * database does so itself.
 */
export async function renewRestoredDatabase(store: MailStore, log: Log): Promise<void> {
  if (!isPostgres(store.database)) return;
  const { nameOfDatabase } = await import('../../mail/store/engine/postgres/database-name.ts');
  const name = await nameOfDatabase(store.database);
  if (name === undefined) {
    return log.info(
      {},
      'PostgreSQL does not tell this user the name of its cluster: a restored dump is not recognized',
    );
  }
  const { isRestored } = await store.write(recognizeDatabase, { name: new TextEncoder().encode(name) });
  if (!isRestored) return;
  log.warn(
    {},
    'the database was restored from a dump, or carried to another PostgreSQL: mail programs fetch their mail again, since numbers may have been given after the dump',
  );
}
