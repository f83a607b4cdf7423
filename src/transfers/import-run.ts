import { access, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { Log, Meter } from '../../mail/log.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { endImportJob, type ImportJobRow, updateImportJob } from '../../mail/store/transfer/import-job.ts';
import { importFiles } from '../../mail/transfer/file-import.ts';
import type { PullProof } from '../../mail/transfer/imap/pull-types.ts';
import { pullAccount } from '../../mail/transfer/imap/pull.ts';
import { ImportLog } from '../../mail/transfer/import-log.ts';
import { type FileSpec, type ImapSpec, IMPORT_SECRET, type ImportSpec } from './import-spec.ts';
import { checkRemoteHost } from './remote-host.ts';

const SAVE_MS = 1_000;
/** Ends of the server in a row that an import survives without getting further: it may be what ends the server. */
const MAX_CRASHES = 5;

/** Context of imports and exports. */
export interface TransferDeps {
  store: MailStore;
  secrets: SecretBox;
  settings: Settings;
  clock: () => number;
  resolver: Resolver;
  log: Log;
  metrics: Meter;
}

/** Directory of uploads and exports. */
export const transfersDirectory = ({ dataDir }: Pick<Settings, 'dataDir'>): string => join(dataDir, 'transfers');

/** File that the upload of a job is written to. */
export const uploadPath = (settings: Pick<Settings, 'dataDir'>, id: number): string =>
  join(transfersDirectory(settings), `upload-${id}`);

/** Runs one job to its end. If `stop` is aborted it stays open, and the next start of the server resumes it. */
export async function runImport(deps: TransferDeps, job: ImportJobRow, stop: AbortSignal): Promise<void> {
  const { store, log, metrics } = deps;
  const spec = JSON.parse(job.spec) as ImportSpec;
  const imported = new ImportLog();
  const attempt = attemptOf(job);
  await save(deps, job, imported, attempt);
  const saving = setInterval(() => void save(deps, job, imported, attempt).catch(() => undefined), SAVE_MS);
  let proof: PullProof | undefined;
  let problem: string | undefined;
  try {
    if (attempt.crashes > MAX_CRASHES) throw new Error(`The server ended ${MAX_CRASHES} times while this import ran`);
    await mkdir(transfersDirectory(deps.settings), { recursive: true, mode: 0o700 });
    if (spec.kind === 'file') await importFile(deps, job, spec, imported, stop);
    else proof = await pull(deps, job, spec, imported, stop);
  } catch (error) {
    if (stop.aborted) return await save(deps, job, imported, Object.assign(attempt, { crashes: 0 }));
    problem = sentenceOf(error, spec);
    log.warn({ err: error, job: job.id }, 'import failed');
  } finally {
    clearInterval(saving);
  }
  const state = problem === undefined ? 'done' : 'failed';
  const report = JSON.stringify({
    ...imported.report,
    ...(proof && { proof }),
    ...(problem !== undefined && { problem }),
  });
  await store.write(endImportJob, { id: job.id, state, progress: JSON.stringify(imported.progress), report });
  metrics.count('imported_messages_total', { kind: spec.kind }, imported.progress.imported);
  log.info({ job: job.id, state, ...imported.progress }, 'import ended');
  if (spec.kind === 'file' && spec.path === null) await rm(uploadPath(deps.settings, job.id), { force: true });
}

/** Crashes since the import got further, counting the present run until it ends, and how far it got. */
interface Attempt {
  crashes: number;
  reached: number;
}

function attemptOf({ progress }: ImportJobRow): Attempt {
  const { crashes = 0, reached = 0 } = JSON.parse(progress) as Partial<Attempt>;
  return { crashes: crashes + 1, reached };
}

async function save({ store }: TransferDeps, { id }: ImportJobRow, log: ImportLog, attempt: Attempt): Promise<void> {
  const { imported, known, skipped } = log.progress;
  const count = imported + known + skipped;
  if (count > attempt.reached) Object.assign(attempt, { crashes: 0, reached: count });
  const progress = JSON.stringify({ ...log.progress, ...attempt });
  await store.writeSlice(updateImportJob, { id, state: 'running', progress, report: JSON.stringify(log.report) });
}

async function importFile(
  deps: TransferDeps,
  job: ImportJobRow,
  spec: FileSpec,
  log: ImportLog,
  stop: AbortSignal,
): Promise<void> {
  const { store, settings, clock } = deps;
  const path = spec.path ?? uploadPath(settings, job.id);
  await access(path);
  await importFiles(
    store,
    {
      account: job.account,
      path,
      name: spec.name ?? undefined,
      folder: spec.folder ?? undefined,
      spool: transfersDirectory(settings),
      maxOctets: settings.maxMessageBytes,
      pass: Date.now(),
      clock,
      stop,
    },
    log,
  );
}

async function pull(
  { store, secrets, settings, clock, resolver }: TransferDeps,
  job: ImportJobRow,
  spec: ImapSpec,
  log: ImportLog,
  stop: AbortSignal,
): Promise<PullProof> {
  // Checked for each run: names change.
  const checked = await checkRemoteHost(spec, settings.allowPrivateNetworks, resolver);
  if ('problem' in checked) throw new Error(checked.problem);
  if (job.secret === null) throw new Error('Its password was forgotten: start a new import');
  const text = secrets.open(...IMPORT_SECRET, job.by, job.secret).toString();
  const { host, port, tls, anyCertificate, user, auth, labels, deletions, perSecond, folder } = spec;
  const secret = auth === 'password' ? { password: text } : { accessToken: text };
  const remote = { host, ip: checked.ip, port, tls, anyCertificate, user, secret };
  const options = { labels, deletions, perSecond, below: folder ?? undefined, maxOctets: settings.maxMessageBytes };
  return pullAccount(store, { account: job.account, remote, options, pass: Date.now(), clock, stop }, log);
}

/** A sentence for people: what happened and what to do next. */
function sentenceOf(error: unknown, spec: ImportSpec): string {
  const { code, message, name } = error as NodeJS.ErrnoException;
  if (spec.kind === 'file') {
    if (code === 'ENOENT') return `${spec.path ?? 'The upload'} does not exist on the server: check the path.`;
    if (code === 'EACCES')
      return `The server may not read ${spec.path ?? 'the upload'}: give its user the right to, then import again.`;
    return `${ended(message)} Messages before it are imported; a new import adds nothing twice.`;
  }
  if (name === 'LoginRefused') {
    return `${spec.host} refused the login of ${spec.user}: "${message.slice(0, 300)}". Check the user name and the app password or token.`;
  }
  return `${ended(message.slice(0, 500))} What was pulled stays: start the import again, it goes on where it ended.`;
}

function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
