import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import type { Migration } from '../../mail/store/engine/migrate.ts';
import { migratePostgres } from '../../mail/store/engine/postgres/migrate.ts';

/** Debian's programs of PostgreSQL 15. */
const PROGRAMS = '/usr/lib/postgresql/15/bin';

export const isPostgresInstalled = existsSync(join(PROGRAMS, 'initdb'));

export interface PostgresServer extends Disposable {
  /** Directory of its socket; it listens nowhere else. */
  readonly socket: string;
  readonly url: string;
  /** Ends it as kill -9 does, and starts it again. */
  restart(): void;
}

/** Not in the directory of the tests, which no other user may enter. */
const IN_MEMORY = existsSync('/dev/shm') ? '/dev/shm' : '/tmp';

/** Starts a PostgreSQL of its own as an ordinary user, on a socket in a temporary directory. It keeps nothing. */
export function startPostgres(parent = IN_MEMORY, buffers = '16MB'): PostgresServer {
  const socket = mkdtempSync(join(parent, 'mailstead-postgres-'));
  const data = join(socket, 'data');
  chmodSync(socket, 0o777);
  run('initdb', ['-D', data, '-U', 'mailstead', '-A', 'trust', '--locale=C', '-E', 'UTF8', '--no-sync']);
  const options = `-k ${socket} -c listen_addresses= -c shared_buffers=${buffers} -c max_connections=400`;
  const start = (): void => run('pg_ctl', ['-D', data, '-w', '-l', join(socket, 'log'), '-o', options, 'start']);
  start();
  return {
    socket,
    url: `postgres://mailstead@localhost/postgres?host=${encodeURIComponent(socket)}`,
    restart() {
      run('pg_ctl', ['-D', data, '-m', 'immediate', 'stop']);
      start();
    },
    [Symbol.dispose]() {
      run('pg_ctl', ['-D', data, '-m', 'immediate', 'stop']);
      rmSync(socket, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. Not as nobody, either: tests of services end all processes of that user. */
function run(program: string, words: readonly string[]): void {
  const command = [join(PROGRAMS, program), ...words];
  const asItsUser =
    process.getuid?.() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
  const [first = '', ...rest] = [...asItsUser, ...command];
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

/** Migrates the database as a node does. */
export async function createSchema(sql: postgres.Sql, migrations: readonly Migration[]): Promise<void> {
  const reserved = await sql.reserve();
  await migratePostgres(reserved, migrations);
  reserved.release();
}
