import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type CutProxy, openCutProxy } from './cut-proxy.ts';
import { createFolders, fillMailbox, type SourceServer, SOURCES } from './source-servers.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
const FULL = process.env['IMPORT_FULL'] === '1';
const TIMEOUT_MS = FULL ? 7_200_000 : 1_200_000;

interface PullSize {
  mailboxes: number;
  /** Messages of each mailbox. */
  messages: number;
  cuts: number;
}
const FULL_SIZE: PullSize = { mailboxes: 20, messages: 2_500, cuts: 30 };
const SIZES: Readonly<Record<keyof typeof SOURCES, PullSize>> = {
  Dovecot: FULL ? FULL_SIZE : { mailboxes: 4, messages: 400, cuts: 30 },
  Cyrus: FULL ? FULL_SIZE : { mailboxes: 2, messages: 300, cuts: 10 },
};
/** With few messages a pace, so that the pull lasts as long as its cuts. */
const PACE = FULL ? [] : ['--per-second', '100'];

/** Interval of looks at the number of stored messages, which is slower to count the more there are. */
const LOOK_MS = FULL ? 50 : 10;
/** Most time between two cuts: after each one all mailboxes list their folders again, beside whatever runs on the machine. */
const STEP_MS = FULL ? 1_800_000 : 240_000;

let box: Box;
let directory: string;
beforeAll(async () => {
  box = await startBox();
  directory = await mkdtemp(join(tmpdir(), 'importing-'));
}, TIMEOUT_MS);
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

/** Fills all mailboxes. Returns the numbers of their folders, and of the messages that the server took. */
async function fill(source: SourceServer, messages: number): Promise<{ folders: number; messages: number }> {
  const created: string[][] = [];
  for (const [n, user] of source.users.entries()) created.push(await createFolders(source, user, FULL || n === 0));
  const taken = await Promise.all(
    source.users.map((user, n) => fillMailbox(source, user, { folders: created[n] ?? [], messages, seed: n + 1 })),
  );
  return { folders: created.flat().length, messages: taken.reduce((all, one) => all + one, 0) };
}

interface Outcome {
  imports: {
    mailbox: string;
    import: { state: string; imported: number; known: number; skipped: number; problem: string | null };
    untrusted: {
      problems: unknown[];
      proof?: { equal: boolean; folders: { there: number; here: number; equal: boolean }[]; differences: unknown[] };
    };
  }[];
}

async function pull(args: readonly string[]): Promise<Outcome> {
  const all = ['import', 'imap', ...args, '--tls', 'none', '--json'];
  const { stdout } = await promisify(execFile)(COMMAND, all, { env: box.env, maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: { stdout: string; stderr: string; message: string }) => {
      if (error.stdout !== '') return error;
      throw new Error(`${error.message} ${error.stderr}`);
    },
  );
  return JSON.parse(stdout) as Outcome;
}

/** One number of the database, also while the server does not run. */
function count(sql: string): number {
  using db = new DatabaseSync(join(box.dataDir, 'mailstead.db'), { readOnly: true });
  return Number(db.prepare(sql).get()?.['n']);
}

const stored = (): number => count('SELECT count(*) AS n FROM entry');
const openImports = (): number => count('SELECT count(*) AS n FROM import_job WHERE ended_at IS NULL');

/** Imports that did not end well, and why. */
function failedImports(): unknown[] {
  using db = new DatabaseSync(join(box.dataDir, 'mailstead.db'), { readOnly: true });
  return db
    .prepare(
      `SELECT id, account_id AS account, state, json_extract(report, '$.problem') AS problem, progress
       FROM import_job WHERE state <> 'done'`,
    )
    .all();
}

/** The result of a step, or an error that names the step and the imports that have not ended: a test that times out says neither. */
async function within<T>(name: string, step: Promise<T>): Promise<T> {
  using stack = new DisposableStack();
  const late = new Promise<never>((_, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${name} took ${STEP_MS / 1000} s: ${JSON.stringify(failedImports())}`)),
      STEP_MS,
    );
    stack.defer(() => clearTimeout(timer));
  });
  return await Promise.race([step, late]);
}

interface CutPlan {
  cuts: number;
  /** Messages that the pull will store. */
  messages: number;
  start: () => Promise<unknown>;
}

/**
 * Cuts a pull again and again while it gets further: of five cuts three connections, one crash there and one here, after which
 * somebody starts the pull again, as not all of its mailboxes had begun.
 */
async function cutOften(
  source: SourceServer,
  proxy: CutProxy,
  { cuts, messages, start }: CutPlan,
): Promise<Record<string, number>> {
  const runs = [start()];
  const done = { connection: 0, there: 0, here: 0 };
  const step = Math.floor((messages * 0.95) / cuts);
  for (let cut = 0, from = stored(); cut < cuts; cut++, from = stored()) {
    const further = expect.poll(stored, { timeout: 2 * STEP_MS, interval: LOOK_MS });
    await within(`progress before cut ${cut}`, further.toBeGreaterThan(from + Math.floor(step / 2)));
    const kind = cut % 5 === 3 ? 'there' : cut % 5 === 4 ? 'here' : 'connection';
    done[kind]++;
    if (kind === 'connection') await within(`cut ${cut}`, proxy.cut());
    if (kind === 'there') await within(`crash ${cut}`, source.crash());
    if (kind === 'here') {
      await box.kill();
      await box.start();
      runs.push(start());
    }
  }
  await within('what is left after the last cut', Promise.all(runs));
  return done;
}

/** Every mailbox came whole, and all of its folders are the same on both sides. */
function expectEqual({ imports }: Outcome): void {
  for (const one of imports) {
    expect(one.untrusted.proof?.differences, one.mailbox).toEqual([]);
    expect(one).toMatchObject({
      import: { state: 'done', skipped: 0 },
      untrusted: { problems: [], proof: { equal: true } },
    });
    for (const folder of one.untrusted.proof?.folders ?? []) expect(folder.here).toBe(folder.there);
  }
}

/** As counted by this server's own list of mailboxes: nothing is doubled. */
async function expectNothingDoubled({ imports }: Outcome): Promise<void> {
  const { mailboxes } = (await box.ask('list_box_mailboxes')) as {
    mailboxes: { address: string; messages: number }[];
  };
  for (const one of imports) {
    const there = (one.untrusted.proof?.folders ?? []).reduce((sum, folder) => sum + folder.there, 0);
    expect(mailboxes.find(({ address }) => address === one.mailbox)?.messages).toBe(there);
  }
}

test.each(Object.keys(SOURCES) as (keyof typeof SOURCES)[])(
  'mailboxes of %s come whole over a line that is cut and a server that is killed, and a second run moves nothing',
  { timeout: TIMEOUT_MS },
  async (name) => {
    const { mailboxes, messages, cuts } = SIZES[name];
    await using source = await SOURCES[name](mailboxes);
    const filled = await fill(source, messages);
    const addressOf = (user: string): string => `${name.toLowerCase()}-${user}@box.test`;
    for (const user of source.users) await box.ask('add_mailbox', { address: addressOf(user) });
    const csv = join(directory, 'accounts.csv');
    const rows = source.users.map((user) => `${user},${source.password},${addressOf(user)}\n`);
    await writeFile(csv, `user,password,address\n${rows.join('')}`);
    await using proxy = await openCutProxy(source.port);
    const args = ['--from-host', '127.0.0.1', '--port', String(proxy.port), '--csv', csv];
    const start = (): Promise<unknown> => pull([...args, ...PACE]).catch(() => undefined);
    const began = performance.now();
    const done = await cutOften(source, proxy, { cuts, messages: filled.messages, start });
    await expect.poll(openImports, { timeout: TIMEOUT_MS, interval: 200 }).toBe(0);
    const seconds = Math.round((performance.now() - began) / 1_000);
    expect(failedImports()).toEqual([]);
    expect(done).toEqual({ connection: (cuts * 3) / 5, there: cuts / 5, here: cuts / 5 });

    const second = await pull(args);
    expectEqual(second);
    expect(second.imports.map((one) => one.import.imported)).toEqual(source.users.map(() => 0));
    await expectNothingDoubled(second);
    const proven = second.imports.flatMap((one) => one.untrusted.proof?.folders ?? []);
    expect(proven.length).toBe(filled.folders);
    const all = proven.reduce((sum, folder) => sum + folder.there, 0);
    expect(all).toBe(filled.messages);
    console.log(
      `${name}: ${all} messages in ${filled.folders} folders of ${mailboxes} mailboxes, ${cuts} cuts, ${seconds} s`,
    );
  },
);
