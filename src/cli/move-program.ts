import type { MoveResult } from '../../mail/store/move/move.ts';
import type { Settings } from '../../config/settings.ts';
import { DONE, FAILED, printError, printJson, printJsonError, printLine, printUsage, USAGE_ERROR } from './output.ts';
import type { CliProgram, ProgramInput } from './program.ts';

/** Target of `--to` for the embedded database. */
const EMBEDDED = 'sqlite';

/** `mailstead move`: carries the mail of a stopped server to PostgreSQL and back. */
export const move: CliProgram = {
  words: 'move',
  usage: `--to postgres://USER@HOST/NAME [--password-file FILE] | --to ${EMBEDDED}`,
  about: 'Move the mail of a stopped server to PostgreSQL or back, and compare every row',
  options: ['to', 'password-file'],
  async run(start) {
    const { to } = start.options;
    if (to === undefined || start.args.length > 0) return printUsage(move);
    const settings = start.settings();
    if (settings === undefined) return USAGE_ERROR;
    // The database is readable by this user only.
    process.umask(0o077);
    try {
      const moved = to === EMBEDDED ? await moveBack(settings) : await moveAway(start, settings, to);
      if (start.options.json === true) printJson(moved);
      else printLine(textOf(moved, settings.dataDir));
      return DONE;
    } catch (error) {
      const { message } = error as Error;
      return start.options.json === true ? printJsonError('failed', message) : printError(message, FAILED);
    }
  },
};

async function moveAway(start: ProgramInput, settings: Settings, to: string): Promise<MoveResult> {
  if (settings.database !== undefined) throw new Error('MAILSTEAD_DATABASE is set: the mail is in PostgreSQL already');
  const { postgresUrl } = await import('../../config/parse.ts');
  const parsed = postgresUrl(to);
  if (!parsed.ok) throw new Error(`--to must be ${parsed.expected}, or ${EMBEDDED}`);
  const { moveToPostgres } = await import('../../mail/store/move/move.ts');
  return moveToPostgres(await optionsOf(settings, { url: parsed.value, passwordFile: start.options['password-file'] }));
}

async function moveBack(settings: Settings): Promise<MoveResult> {
  if (settings.database === undefined) throw new Error('Set MAILSTEAD_DATABASE to the database that has the mail');
  const { moveToSqlite } = await import('../../mail/store/move/move.ts');
  return moveToSqlite(await optionsOf(settings, settings.database));
}

async function optionsOf(settings: Settings, database: NonNullable<Settings['database']>) {
  const [{ databaseUrl }, { mailMigrations }, { applianceMigrations }] = await Promise.all([
    import('../core/database-url.ts'),
    import('../../mail/store/migrations.ts'),
    import('../core/migrations.ts'),
  ]);
  const url = (await databaseUrl({ database })) ?? '';
  return { dataDir: settings.dataDir, url, migrations: [...mailMigrations(), ...applianceMigrations()] };
}

function textOf({ tables, rows, messages, left }: MoveResult, dataDir: string): string {
  return [
    `${messages} messages in ${rows} rows of ${tables} tables were copied and read again: all are equal.`,
    left === null
      ? `Unset MAILSTEAD_DATABASE and start the server with ${dataDir}. PostgreSQL still has its copy.`
      : `Set MAILSTEAD_DATABASE and start the server with the same data directory. The old database is ${left}.`,
  ].join('\n');
}
