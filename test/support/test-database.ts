import { createHash } from 'node:crypto';
import postgres from 'postgres';
import type { Migration } from '../../mail/store/engine/migrate.ts';
import { createSchema, isPostgresInstalled, startPostgres } from './postgres.ts';

/** Variable that selects the engine of stores and servers of tests: `postgres`, or SQLite. */
const ENGINE = 'MAILSTEAD_TEST_DATABASE';
/** Directory of the socket of the run's PostgreSQL; set by the setup. */
const SOCKET = 'MAILSTEAD_TEST_POSTGRES';

/** Tests of what only SQLite has, such as its files. */
export const onPostgres = process.env[ENGINE] === 'postgres';

/** Starts the PostgreSQL of a run whose stores and servers use it. */
export function setup(): (() => void) | undefined {
  if (process.env[ENGINE] !== 'postgres') return undefined;
  if (!isPostgresInstalled) throw new Error('PostgreSQL 15 is not installed (apt-get install postgresql-15)');
  const server = startPostgres();
  process.env[SOCKET] = server.socket;
  return () => server[Symbol.dispose]();
}

function urlOf(name: string): string {
  return `postgres://mailstead@localhost/${name}?host=${encodeURIComponent(process.env[SOCKET] ?? '')}`;
}

function connect(database: string): postgres.Sql {
  return postgres({
    host: process.env[SOCKET] ?? '',
    username: 'mailstead',
    database,
    max: 1,
    onnotice: () => undefined,
    connection: database === 'postgres' ? {} : { search_path: 'mailstead, pg_catalog' },
  });
}

const templates = new Map<string, Promise<string>>();

/** A database with nothing but the schema, which a copy of is faster than its migrations. */
function templateOf(migrations: readonly Migration[]): Promise<string> {
  const ledgers = migrations.map(({ ledger, number }) => `${ledger} ${number}`).join();
  let template = templates.get(ledgers);
  if (template === undefined) {
    template = createTemplate(`template_${process.pid}_${templates.size}`, migrations);
    templates.set(ledgers, template);
  }
  return template;
}

async function createTemplate(name: string, migrations: readonly Migration[]): Promise<string> {
  await administer(`CREATE DATABASE ${name} TEMPLATE template0`);
  const sql = connect(name);
  await sql.unsafe('SELECT 1');
  await createSchema(sql, migrations);
  await sql.end();
  return name;
}

async function administer(statement: string): Promise<void> {
  const sql = connect('postgres');
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

let created = 0;

/** URL of a new database with nothing but the schema; undefined: the tests run on SQLite. */
export async function testDatabase(migrations: readonly Migration[]): Promise<string | undefined> {
  if (!onPostgres) return undefined;
  const name = `store_${process.pid}_${++created}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${await templateOf(migrations)}`);
  return urlOf(name);
}

/** Deletes a database of {@link testDatabase}. */
export async function dropTestDatabase(url: string): Promise<void> {
  await administer(`DROP DATABASE IF EXISTS ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
}

function nameOf(dataDir: string): string {
  return `box_${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;
}

/** Deletes the database of {@link databaseOfDirectory}. */
export async function dropDatabaseOfDirectory(dataDir: string): Promise<void> {
  if (onPostgres) await administer(`DROP DATABASE IF EXISTS ${nameOf(dataDir)} WITH (FORCE)`);
}

/** URL of the database that belongs to a data directory; undefined: the tests run on SQLite. */
export async function databaseOfDirectory(dataDir: string): Promise<string | undefined> {
  if (!onPostgres) return undefined;
  const name = nameOf(dataDir);
  const sql = connect('postgres');
  try {
    const [there] = await sql`SELECT 1 FROM pg_database WHERE datname = ${name}`;
    if (there === undefined) await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE template0`);
  } finally {
    await sql.end();
  }
  return urlOf(name);
}
