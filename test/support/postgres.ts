import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import type { Migration } from '../../mail/store/engine/migrate.ts';
import { schemaToPostgres } from '../../mail/store/engine/postgres/schema.ts';

/** Debian's programs of PostgreSQL 15. */
const PROGRAMS = '/usr/lib/postgresql/15/bin';
const FUNCTIONS = new URL('../../mail/store/engine/postgres/functions.sql', import.meta.url);

export const isPostgresInstalled = existsSync(join(PROGRAMS, 'initdb'));

export interface PostgresServer extends Disposable {
  /** Directory of its socket; it listens nowhere else. */
  readonly socket: string;
}

/** Starts a PostgreSQL of its own as an ordinary user, on a socket in a temporary directory. It keeps nothing. */
export function startPostgres(): PostgresServer {
  // Not in the directory of the tests, which no other user may enter.
  const socket = mkdtempSync('/tmp/mailstead-postgres-');
  const data = join(socket, 'data');
  chmodSync(socket, 0o777);
  run('initdb', ['-D', data, '-U', 'mailstead', '-A', 'trust', '--locale=C', '-E', 'UTF8', '--no-sync']);
  const options = `-k ${socket} -c listen_addresses= -c fsync=off -c shared_buffers=16MB`;
  run('pg_ctl', ['-D', data, '-w', '-l', join(socket, 'log'), '-o', options, 'start']);
  return {
    socket,
    [Symbol.dispose]() {
      run('pg_ctl', ['-D', data, '-m', 'immediate', 'stop']);
      rmSync(socket, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. */
function run(program: string, words: readonly string[]): void {
  const command = [join(PROGRAMS, program), ...words];
  const asNobody = process.getuid?.() === 0 ? ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'] : [];
  const [first = '', ...rest] = [...asNobody, ...command];
  execFileSync(first, rest, { stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
}

/** One connection whose tables and functions are in the schema `mailstead`. */
export function connectPostgres({ socket }: PostgresServer): postgres.Sql {
  return postgres({
    host: socket,
    username: 'mailstead',
    database: 'postgres',
    max: 1,
    onnotice: () => undefined,
    connection: { search_path: 'mailstead, pg_catalog' },
  });
}

/** Creates functions and tables. */
export async function createSchema(sql: postgres.Sql, migrations: readonly Migration[]): Promise<void> {
  await sql.unsafe('CREATE SCHEMA mailstead');
  await sql.unsafe(readFileSync(FUNCTIONS, 'utf8'));
  for (const migration of migrations) {
    for (const statement of schemaToPostgres(migration.sql)) await sql.unsafe(statement);
  }
}
