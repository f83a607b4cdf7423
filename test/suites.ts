import { readdirSync, readFileSync } from 'node:fs';
import type { TestProjectConfiguration, ViteUserConfig } from 'vitest/config';

type TestOptions = NonNullable<ViteUserConfig['test']>;

/** Folders of test/unit/ that open no store and no socket: `npm run test:quick`. */
const PURE = ['auth', 'cli', 'forwarder', 'guard', 'linear', 'message', 'repository', 'smtp'];

/** Journeys that `npm test` runs. `npm run test:journeys` runs the others: each start costs seconds of CPU. */
export const FIRST_JOURNEYS: readonly string[] = ['clean-stop', 'first-mail'].map(
  (name) => `test/journeys/${name}.test.ts`,
);

/** Imports, exports, backups, the bucket and the move to PostgreSQL: `npm run test:moving`. Each moves whole mailboxes, which costs minutes of CPU. */
export const MOVING: readonly string[] = [
  'backup',
  'backup-restore',
  'hostile-imports',
  'log-shipping',
  'message-bucket',
  'move-everything',
  'poor-line-imports',
  'pulled-accounts',
  'recipient-backups',
  'transfer',
].map((name) => `test/contract/${name}.test.ts`);

/** Contract files about PostgreSQL itself, which `npm run test:postgres` runs. */
const POSTGRES = /^test\/contract\/postgres-/;

/** Contract files that `npm test` runs. */
export const firstContracts = (): string[] =>
  filesOf(['contract']).filter((file) => !MOVING.includes(file) && !POSTGRES.test(file));

/** Replaces modules or globals for the files behind it in the same process, too. Fake timers do not: each file that has them ends them. */
const PATCHES = /\bvi\.(?:mock|stubGlobal|stubEnv)\(/;

/** Has the agent gate replaced: these files share a process of their own. */
const HELD = /^import '[./]+\/support\/gate-that-holds-all\.ts';$/m;

/**
 * Loads modules as the product does, without a transformation: it takes a third less CPU time. Files that replace modules
 * need Vite's module runner.
 */
export const NATIVE = { viteModuleRunner: false } satisfies TestOptions['experimental'];

// Dates of IMAP are in the zone of the server.
process.env['TZ'] = 'UTC';

/** Options common to all suites. */
export const COMMON = {
  globalSetup: ['./test/support/memory-disk.ts', './test/support/test-database.ts'],
  setupFiles: ['./test/support/rsa-keys.ts', './test/support/cheap-passwords.ts'],
  reporters: ['default', './test/support/closing-line.ts'],
  pool: 'forks',
  maxWorkers: 2,
  // Limits for what hangs, not for what is slow: no test asserts a time, and a shared machine took five times as long.
  testTimeout: 180_000,
  hookTimeout: 200_000,
  expect: { poll: { timeout: 60_000 } },
} satisfies TestOptions;

const PURE_FILE = new RegExp(`^test/unit/(?:${PURE.join('|')})/`);

/** Returns the test files under these folders of test/. */
export function filesOf(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(`test/${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => `test/${folder}/${file}`),
  );
}

/**
 * Splits test files into projects: `quick` needs nothing but the processor, `main` shares a process between files, so
 * that what they import is loaded once, `held` does so with an agent gate that holds all, and `alone` has a process for each
 * file.
 */
export function projectsOf(files: readonly string[]): TestProjectConfiguration[] {
  const alone = files.filter((file) => PATCHES.test(readFileSync(file, 'utf8')));
  const held = files.filter((file) => HELD.test(readFileSync(file, 'utf8')));
  const shared = files.filter((file) => !alone.includes(file) && !held.includes(file));
  const project = (name: string, include: string[], options: TestOptions): TestProjectConfiguration[] =>
    include.length === 0 ? [] : [{ extends: true, test: { name, include, ...options } }];
  const inOneProcess = { isolate: false, experimental: NATIVE };
  return [
    ...project(
      'quick',
      shared.filter((file) => PURE_FILE.test(file)),
      inOneProcess,
    ),
    ...project(
      'main',
      shared.filter((file) => !PURE_FILE.test(file)),
      inOneProcess,
    ),
    ...project('held', held, {
      ...inOneProcess,
      setupFiles: [...COMMON.setupFiles, './test/support/gate-that-holds-all.ts'],
    }),
    ...project('alone', alone, { isolate: true }),
  ];
}
