import { dirname, resolve } from 'node:path';
import type * as commandsModule from '../backup/backup-commands.ts';
import type { Settings } from '../../config/settings.ts';
import type { CliProgram, ProgramInput } from './program.ts';
import {
  formatBytes,
  FAILED,
  printError,
  printJson,
  printJsonError,
  printLine,
  printUsage,
  formatTable,
  USAGE_ERROR,
} from './output.ts';

type Commands = typeof commandsModule;

/** Result of a program: its JSON and its text. */
interface ProgramResult {
  json: object;
  text: string;
  /** False: exit code 1. */
  ok?: boolean;
}

/** Runs `work` with the settings; problems become one sentence. */
async function run(
  start: ProgramInput,
  work: (settings: Settings, commands: Commands) => Promise<ProgramResult>,
): Promise<number> {
  const settings = start.settings();
  if (settings === undefined) return USAGE_ERROR;
  const json = start.options.json === true;
  const [{ BackupProblem, isDiskFull, reasonOf }, commands] = await Promise.all([
    import('../../mail/backup/backup-error.ts'),
    import('../backup/backup-commands.ts'),
  ]);
  // Files of a backup or a restored directory are readable by this user only.
  process.umask(0o077);
  try {
    const { json: value, text, ok = true } = await work(settings, commands);
    if (json) printJson(value);
    else printLine(text);
    return ok ? 0 : FAILED;
  } catch (error) {
    const known = error instanceof BackupProblem;
    const full = isDiskFull(error) ? 'The disk of the target is full. Free space, or use another target' : undefined;
    const message = full ?? (known ? error.message : `The command failed: ${reasonOf(error)}`);
    if (!json) return printError(message, FAILED);
    return printJsonError(known ? 'backup_problem' : 'failed', message);
  }
}

/** Throws if the mail is in PostgreSQL, whose data these commands do not read. */
async function requireEmbedded(settings: Settings, instead: string): Promise<void> {
  if (settings.database === undefined) return;
  const { BackupProblem } = await import('../../mail/backup/backup-error.ts');
  throw new BackupProblem(`This command reads the embedded database, and MAILSTEAD_DATABASE is set. ${instead}.`);
}

const when = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

const backup: CliProgram = {
  words: 'backup',
  usage: 'TARGET [--continuous]',
  about: 'Back up the data directory, also while the server runs; only what is new is stored',
  options: ['continuous'],
  async run(start) {
    const [target, ...rest] = start.args;
    const dataDir = start.dataDir();
    if (target === undefined || rest.length > 0) return printUsage(backup);
    if (dataDir === undefined) return USAGE_ERROR;
    if (start.options.continuous === true) return runContinuously(start, target, dataDir);
    return run(start, async (settings, { runBackup }) => {
      await requireEmbedded(settings, 'Run pg_dump, then copy the data directory (docs/scaling.md)');
      const done = await runBackup({ settings, dataDir, target });
      const { snapshot, damaged, seconds, removed, encrypted } = done;
      const lines = [
        `Snapshot ${snapshot.id} in ${done.target}: ${snapshot.messages} messages of ${snapshot.mailboxes} mailboxes, ${formatBytes(snapshot.size)}.`,
        `${formatBytes(snapshot.added)} stored in ${seconds.toFixed(1)} s${removed > 0 ? `; ${removed} expired snapshots removed` : ''}.`,
        ...(encrypted ? [] : ['Not encrypted, so the key file is not in it: keep a copy of secret.key apart from it.']),
        ...(damaged.length > 0 ? [`${damaged.length} messages are damaged here: run mailstead fsck.`] : []),
      ];
      return { json: done, text: lines.join('\n') };
    });
  },
};

/** Backs up and copies commits until a signal, or until the server that started this process ends. */
async function runContinuously(start: ProgramInput, target: string, dataDir: string): Promise<number> {
  return run(start, async (settings) => {
    await requireEmbedded(settings, 'Copy the log of PostgreSQL instead (docs/scaling.md)');
    const { backUpContinuously } = await import('../backup/continuous-backup.ts');
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.once(signal, () => stop.abort());
    const state = await backUpContinuously({ settings, dataDir, target, stop: stop.signal });
    const until = state.copiedUntil === null ? 'Nothing was copied.' : `Copied until ${when(state.copiedUntil)}.`;
    return { json: state, text: until };
  });
}

const keygen: CliProgram = {
  words: 'backup keygen',
  usage: '[FILE]',
  about: 'Make an identity that opens backups, in FILE or printed, and its recipient',
  async run(start) {
    const [file, ...rest] = start.args;
    if (rest.length > 0) return printUsage(keygen);
    const { createIdentity, identityFile } = await import('../../mail/backup/backup-identity.ts');
    const made = createIdentity();
    const text = identityFile(made, Date.now());
    const json = start.options.json === true;
    if (file === undefined) return json ? printJson(made) : printLine(text.trimEnd());
    const problem = await writeNewFile(file, text);
    if (problem !== undefined) return json ? printJsonError('failed', problem) : printError(problem, FAILED);
    const { recipient } = made;
    return json
      ? printJson({ file, recipient })
      : printLine(
          `Identity written to ${file}: keep it apart from the server, nothing else opens its backups.\nMAILSTEAD_BACKUP_RECIPIENT=${recipient}`,
        );
  },
};

/** Writes a file that does not exist yet, for its owner only; a sentence if it cannot. */
async function writeNewFile(path: string, text: string): Promise<string | undefined> {
  const { open } = await import('node:fs/promises');
  const { flushDirectory } = await import('../../mail/backup/flush-file.ts');
  try {
    await using file = await open(path, 'wx', 0o600);
    await file.writeFile(text);
    await file.sync();
    // Its recipient is printed next: backups for a file that a power cut takes away would open for nobody.
    await flushDirectory(dirname(resolve(path)));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST'
      ? `${path} exists already, and the identity in it may be needed. Name another file`
      : `${path} cannot be written: ${(error as Error).message}`;
  }
}

const list: CliProgram = {
  words: 'backup list',
  usage: 'TARGET',
  about: 'List the snapshots in a target',
  async run(start) {
    const [target, ...rest] = start.args;
    if (target === undefined || rest.length > 0) return printUsage(list);
    return run(start, async (settings, { listBackups }) => {
      const found = await listBackups(target, settings, {
        logs: true,
        dataDir: start.options['data-dir'] ?? settings.dataDir,
      });
      const rows = found.snapshots.map((one) => [
        one.id,
        when(one.at),
        String(one.messages),
        formatBytes(one.size),
        formatBytes(one.added),
        one.keys ? 'yes' : 'no',
        one.copiedUntil === null ? '' : when(one.copiedUntil),
      ]);
      const damaged = found.damaged.map((id) => `Damaged: ${id}`);
      const text = [
        formatTable(['snapshot', 'time', 'messages', 'size', 'stored', 'keys', 'log until'], rows),
        ...damaged,
      ].join('\n');
      return { json: found, text, ok: damaged.length === 0 };
    });
  },
};

const verify: CliProgram = {
  words: 'backup verify',
  usage: 'TARGET [--at TIME] [--scratch DIR]',
  about: 'Restore a snapshot into a scratch directory and check every message',
  options: ['at', 'scratch'],
  async run(start) {
    const [target, ...rest] = start.args;
    if (target === undefined || rest.length > 0) return printUsage(verify);
    return run(start, async (settings, { verifyTarget, parseMoment }) => {
      const { at, scratch } = start.options;
      const moment = at === undefined ? undefined : parseMoment(at);
      const { tmpdir } = await import('node:os');
      const found = await verifyTarget(target, settings, { at: moment, scratch: resolve(scratch ?? tmpdir()) });
      const { snapshot, check, objects, problems } = found;
      const text = found.ok
        ? `Snapshot ${snapshot.id} of ${when(snapshot.at)}${found.segments > 0 ? ` with ${found.segments} segments of its log` : ''} is whole: ${check?.checked ?? 0} messages compared, ${objects} objects read.`
        : [`Snapshot ${snapshot.id} of ${when(snapshot.at)} is not whole.`, ...problems].join('\n');
      return { json: found, text, ok: found.ok };
    });
  },
};

const restore: CliProgram = {
  words: 'restore',
  usage: 'TARGET --data-dir NEW | --mailbox ADDRESS [--message ID] [--at TIME]',
  about: 'Restore a snapshot to a new directory, or a mailbox or message into the server',
  options: ['at', 'mailbox', 'message'],
  async run(start) {
    const [target, ...rest] = start.args;
    const directory = start.options['data-dir'];
    const { mailbox, message } = start.options;
    if (message !== undefined && mailbox === undefined) return printUsage(restore);
    if (target !== undefined && mailbox !== undefined && rest.length === 0)
      return restoreMailbox(start, target, mailbox);
    if (target === undefined || directory === undefined || rest.length > 0) return printUsage(restore);
    return run(start, async (settings, { restoreDirectory, parseMoment }) => {
      const at = start.options.at === undefined ? undefined : parseMoment(start.options.at);
      const done = await restoreDirectory(target, settings, { at, directory: resolve(directory) });
      const { messages, mailboxes, keys, queued } = done;
      const lines = [
        `${messages} messages of ${mailboxes} mailboxes restored to ${done.directory}, as of ${when(done.at)}.`,
        ...(keys ? [] : [`The backup has no key file: copy secret.key to ${resolve(directory, 'secret.key')}.`]),
        ...(queued > 0 ? [`${queued} messages wait in the queue: this server sends them when it starts.`] : []),
        `Start it with MAILSTEAD_DATA_DIR=${done.directory}.`,
      ];
      return { json: done, text: lines.join('\n') };
    });
  },
};

/** Restores one mailbox, or a message of it, into the running server. */
async function restoreMailbox(start: ProgramInput, target: string, address: string): Promise<number> {
  const dataDir = start.dataDir();
  if (dataDir === undefined) return USAGE_ERROR;
  return run(start, async (settings, { parseMoment }) => {
    const { restoreIntoServer } = await import('../backup/restore-into-server.ts');
    const { callServer } = await import('../operator-socket/client.ts');
    const at = start.options.at === undefined ? undefined : parseMoment(start.options.at);
    const messageId = start.options.message;
    const done = await restoreIntoServer({ settings, target, address, messageId, dataDir, at, callServer });
    const lines = [
      `${done.restored} messages restored to ${address} from the backup, as of ${when(done.at)}; it has ${done.present} of them.`,
      ...(done.skipped > 0 ? [`${done.skipped} were not restored: ${done.reason}.`] : []),
    ];
    return { json: done, text: lines.join('\n'), ok: done.skipped === 0 };
  });
}

const fsck: CliProgram = {
  words: 'fsck',
  usage: '[--backup TARGET]',
  about: 'Check the database and every stored message, also while the server runs',
  options: ['backup'],
  async run(start) {
    const dataDir = start.dataDir();
    if (start.args.length > 0) return printUsage(fsck);
    if (dataDir === undefined) return USAGE_ERROR;
    return run(start, async (settings) => {
      await requireEmbedded(settings, 'Use pg_amcheck for PostgreSQL; the server checks messages while it runs');
      const { checkDataDirectory, fsckText } = await import('../backup/fsck.ts');
      const found = await checkDataDirectory(dataDir, settings, start.options.backup);
      return { json: found, text: fsckText(found), ok: found.ok };
    });
  },
};

const upgrade: CliProgram = {
  words: 'upgrade',
  usage: '--check',
  about: 'Tell what a start of this version would change',
  options: ['check'],
  async run(start) {
    const dataDir = start.dataDir();
    if (start.args.length > 0 || start.options.check !== true) return printUsage(upgrade);
    if (dataDir === undefined) return USAGE_ERROR;
    return run(start, async (settings) => {
      await requireEmbedded(settings, 'Run pg_dump before an upgrade: the start migrates PostgreSQL');
      const { checkUpgrade, upgradeText } = await import('../backup/upgrade-check.ts');
      const found = checkUpgrade(dataDir);
      return { json: found, text: upgradeText(found), ok: found.possible };
    });
  },
};

/** Commands for backups and checks. They run in this process, beside a running server or without one. */
export const BACKUP_PROGRAMS: readonly CliProgram[] = [keygen, verify, list, backup, restore, fsck, upgrade];
