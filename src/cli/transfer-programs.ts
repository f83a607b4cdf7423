import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { callServer, type ControlAnswer } from '../control/client.ts';
import { parseAccounts, type RemoteLogin } from './account-csv.ts';
import { bytes, DONE, FAILED, printError, printLine, printUsage, table, USAGE_ERROR } from './output.ts';
import type { CliProgram, ProgramInput } from './program.ts';

const POLL_MS = 500;
/** Imports of one command that run at the same time. */
const AT_ONCE = 4;

interface Job {
  importId: string;
  state: string;
  imported: number;
  known: number;
  skipped: number;
  bytes: number;
  total: number | null;
  folder: string | null;
  problem: string | null;
}

interface Proof {
  equal: boolean;
  folders: { source: string; folder: string; there: number; here: number; equal: boolean }[];
  differences: { folder: string; uid: number; problem: string }[];
  moreDifferences: number;
}

interface ImportAnswer {
  import: Job;
  untrusted: { problems: { place: string; problem: string }[]; moreProblems: number; proof?: Proof };
}

/** A call that the server refused, or that did not reach it. */
class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

async function ask<T>(dataDir: string, operation: string, input: object): Promise<T> {
  const answer: ControlAnswer = await callServer(dataDir, operation, input);
  if (answer.kind === 'done') return answer.result as T;
  throw new CallFailed(answer.kind === 'refused' ? answer.code : answer.kind, answer.message);
}

async function run(input: ProgramInput, body: (dataDir: string) => Promise<number>): Promise<number> {
  const dataDir = input.dataDir();
  if (dataDir === undefined) return USAGE_ERROR;
  try {
    return await body(dataDir);
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    if (input.options.json !== true) return printError(error.message, FAILED);
    process.stderr.write(`${JSON.stringify({ error: error.code, message: error.message })}\n`);
    return FAILED;
  }
}

export const importImap: CliProgram = {
  words: 'import imap',
  usage: [
    '--from-host HOST --csv FILE | --user USER --mailbox ADDRESS (--password-file FILE | --oauth-token-file FILE)',
    '    [--port N] [--tls implicit|starttls|none] [--any-certificate] [--labels keywords|folders] [--delete]',
    '    [--per-second N] [--folder NAME]',
  ].join('\n'),
  about: 'Pull mailboxes of another server, or what is new there, with a proof',
  options: [
    'from-host',
    'csv',
    'user',
    'mailbox',
    'password-file',
    'oauth-token-file',
    'port',
    'tls',
    'any-certificate',
    'labels',
    'delete',
    'per-second',
    'folder',
  ],
  async run(start) {
    const { options, args } = start;
    const logins = args.length > 0 ? undefined : loginsOf(options);
    if (options['from-host'] === undefined || logins === undefined) return printUsage(importImap);
    if (typeof logins === 'string') return printError(logins, USAGE_ERROR);
    return run(start, async (dataDir) => {
      const jobs = logins.map((login) => ({
        operation: 'import_imap',
        address: login.address,
        input: remoteOf(options, login),
      }));
      return follow(dataDir, jobs, options.json === true);
    });
  },
};

function remoteOf(options: ProgramInput['options'], login: RemoteLogin): object {
  const { port, tls, labels, folder } = options;
  const perSecond = options['per-second'];
  return {
    imap: {
      host: options['from-host'],
      user: login.user,
      ...login.secret,
      ...(port !== undefined && { port: Number(port) }),
      ...(tls !== undefined && { tls }),
      ...(labels !== undefined && { labels }),
      ...(perSecond !== undefined && { perSecond: Number(perSecond) }),
      anyCertificate: options['any-certificate'] === true,
      deletions: options.delete === true,
    },
    ...(folder !== undefined && { folder }),
  };
}

/** Logins of the options. Undefined: wrong usage; a text: a problem. */
function loginsOf(options: ProgramInput['options']): RemoteLogin[] | string | undefined {
  const { csv, user, mailbox } = options;
  const token = options['oauth-token-file'];
  const file = token ?? options['password-file'];
  try {
    if (csv !== undefined)
      return user === undefined && mailbox === undefined ? parseAccounts(readFileSync(csv, 'utf8')) : undefined;
    if (user === undefined || mailbox === undefined || file === undefined) return undefined;
    const secret = readFileSync(file === '-' ? 0 : file, 'utf8').replace(/\r?\n$/, '');
    return [{ user, address: mailbox, secret: token === undefined ? { password: secret } : { accessToken: secret } }];
  } catch (error) {
    return (error as Error).message;
  }
}

export const importFile: CliProgram = {
  words: 'import',
  usage: 'FILE_OR_DIR --mailbox ADDRESS [--folder NAME]',
  about: 'Import mbox, Maildir, EML files, exports of mail programs, or a zip of them',
  options: ['mailbox', 'folder'],
  async run(start) {
    const { args, options } = start;
    const [path, ...more] = args;
    const { mailbox, folder } = options;
    if (path === undefined || more.length > 0 || mailbox === undefined) return printUsage(importFile);
    const input = { path: resolve(path), ...(folder !== undefined && { folder }) };
    return run(start, (dataDir) =>
      follow(dataDir, [{ operation: 'import_files', address: mailbox, input }], options.json === true),
    );
  },
};

interface WantedJob {
  operation: string;
  address: string;
  input: object;
}

/** Starts jobs, a few at a time, shows their progress, and prints their reports. Fails if one failed or differs. */
async function follow(dataDir: string, wanted: readonly WantedJob[], json: boolean): Promise<number> {
  const results: (ImportAnswer & { mailbox: string })[] = [];
  const left = [...wanted];
  const progress = new Map<string, Job>();
  const isShown = process.stderr.isTTY && !json;
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, wanted.length) }, async () => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) {
        const { address } = one;
        const done = await oneJob(dataDir, one, (job) => {
          progress.set(address, job);
          if (isShown) process.stderr.write(`\r\x1b[K${progressLine(progress, wanted.length)}`);
        });
        results.push({ mailbox: address, ...done });
      }
    }),
  );
  if (isShown) process.stderr.write('\r\x1b[K');
  const isGood = results.every((one) => one.import.state === 'done' && one.untrusted.proof?.equal !== false);
  if (json) printLine(JSON.stringify({ imports: results }, null, 2));
  else for (const one of results) printLine(reportOf(one));
  return isGood ? DONE : FAILED;
}

async function oneJob(
  dataDir: string,
  { operation, address, input }: WantedJob,
  onProgress: (job: Job) => void,
): Promise<ImportAnswer> {
  const started = await ask<{ import: Job }>(dataDir, operation, { address, ...input });
  for (;;) {
    const now = await ask<ImportAnswer>(dataDir, 'get_box_import', { address, importId: started.import.importId });
    onProgress(now.import);
    if (now.import.state !== 'running') return now;
    await delay(POLL_MS);
  }
}

function progressLine(jobs: ReadonlyMap<string, Job>, wanted: number): string {
  const all = [...jobs.values()];
  const done = all.reduce((sum, job) => sum + job.imported + job.known + job.skipped, 0);
  const total = all.reduce((sum, job) => sum + (job.total ?? 0), 0);
  const size = all.reduce((sum, job) => sum + job.bytes, 0);
  const share = total === 0 ? 0 : Math.min(1, done / total);
  const bar = `[${'#'.repeat(Math.round(share * 30)).padEnd(30, '.')}]`;
  const ended = all.filter(({ state }) => state !== 'running').length;
  const messages = total === 0 ? `${done} messages` : `${bar} ${done} of ${total} messages`;
  return `${messages}, ${bytes(size)}${wanted > 1 ? `, ${ended} of ${wanted} mailboxes` : ''}`;
}

function reportOf({ mailbox, import: job, untrusted }: ImportAnswer & { mailbox: string }): string {
  const { proof, problems, moreProblems } = untrusted;
  const head = `${mailbox}: ${job.state}. ${job.imported} imported (${bytes(job.bytes)}), ${job.known} known before, ${job.skipped} skipped.`;
  const more = moreProblems > 0 ? [`  and ${moreProblems} more`] : [];
  return [
    head,
    ...(job.problem === null ? [] : [job.problem]),
    ...problems.map(({ place, problem }) => `  ${place}: ${problem}`),
    ...more,
    ...(proof === undefined ? [] : [proofOf(proof)]),
  ].join('\n');
}

function proofOf({ equal, folders, differences, moreDifferences }: Proof): string {
  const rows = folders.map((one) => [
    one.source,
    one.folder,
    String(one.there),
    String(one.here),
    one.equal ? 'equal' : 'different',
  ]);
  return [
    table(['folder there', 'folder here', 'there', 'here', 'proof'], rows),
    ...differences.map(({ folder, uid, problem }) => `  ${folder}, UID ${uid}: ${problem}`),
    ...(moreDifferences > 0 ? [`  and ${moreDifferences} more`] : []),
    equal
      ? 'Proof: both sides are equal.'
      : 'Proof: the sides differ. Run the import again, then look at what is left.',
  ].join('\n');
}

interface Export {
  exportId: string;
  state: string;
  messages: number;
  bytes: number;
  damaged: string[];
  problem: string | null;
}

export const exportMailbox: CliProgram = {
  words: 'export',
  usage: '--mailbox ADDRESS TARGET [--format maildir|mbox|eml]',
  about: 'Export a mailbox to a new directory (Maildir) or a new .zip file (EML)',
  options: ['mailbox', 'format'],
  async run(start) {
    const { args, options } = start;
    const [target, ...more] = args;
    const { mailbox: address, format } = options;
    if (target === undefined || more.length > 0 || address === undefined) return printUsage(exportMailbox);
    const path = resolve(target);
    const chosen = format ?? (path.endsWith('.zip') ? 'eml' : 'maildir');
    return run(start, async (dataDir) => {
      let { export: job } = await ask<{ export: Export }>(dataDir, 'export_box_mailbox', {
        address,
        path,
        format: chosen,
      });
      while (job.state === 'running') {
        await delay(POLL_MS);
        ({ export: job } = await ask<{ export: Export }>(dataDir, 'get_box_export', { exportId: job.exportId }));
        if (process.stderr.isTTY && options.json !== true) process.stderr.write(`\r\x1b[K${job.messages} messages`);
      }
      if (process.stderr.isTTY && options.json !== true) process.stderr.write('\r\x1b[K');
      const code = job.state === 'done' && job.damaged.length === 0 ? DONE : FAILED;
      if (options.json === true) printLine(JSON.stringify({ export: { ...job, path, format: chosen } }, null, 2));
      else if (job.problem !== null) printError(job.problem, FAILED);
      else
        printLine(
          [
            `${address}: ${job.messages} messages, ${bytes(job.bytes)}, in ${path}`,
            ...job.damaged.map((one) => `  damaged: ${one}`),
          ].join('\n'),
        );
      return code;
    });
  },
};

interface Undeleted {
  restored: { messageId: string; folder: string }[];
  missing: string[];
  more: boolean;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3600_000, d: 86_400_000 };

export const undelete: CliProgram = {
  words: 'undelete',
  usage: '--mailbox ADDRESS [--since 1h]',
  about: 'Restore messages deleted since then (30m, 1h, 7d; default all)',
  options: ['mailbox', 'since'],
  async run(start) {
    const { args, options } = start;
    const { mailbox: address, since = '100000d' } = options;
    const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(since) ?? [];
    if (args.length > 0 || address === undefined || count === undefined) return printUsage(undelete);
    const from = new Date(Math.max(1, Date.now() - Number(count) * (UNITS[unit] ?? 0))).toISOString();
    return run(start, async (dataDir) => {
      const all: Undeleted['restored'] = [];
      for (let more = true; more;) {
        const done = await ask<Undeleted>(dataDir, 'undelete_box_mail', { address, since: from });
        all.push(...done.restored);
        more = done.more && done.restored.length > 0;
      }
      if (options.json === true) return printLine(JSON.stringify({ mailbox: address, restored: all }, null, 2));
      const folders = Map.groupBy(all, ({ folder }) => folder);
      const rows = [...folders].map(([folder, messages]) => [folder, String(messages.length)]);
      return printLine(rows.length === 0 ? 'Nothing was deleted since then.' : table(['folder', 'restored'], rows));
    });
  },
};
