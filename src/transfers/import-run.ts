import { access, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import { markWordsOfWriter } from '../../mail/agents/taint/content.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { Log, Meter } from '../../mail/log.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { endImportJob, type ImportJobRow, updateImportJob } from '../../mail/store/transfer/import-job.ts';
import { importFiles } from '../../mail/transfer/file-import.ts';
import type { PullProof } from '../../mail/transfer/imap/pull-types.ts';
import { pullAccount } from '../../mail/transfer/imap/pull.ts';
import { ImportLog } from '../../mail/transfer/import-log.ts';
import { rowId } from '../core/ids.ts';
import { ImportAttempt, MAX_CRASHES } from './import-attempt.ts';
import { failureSentence, LookupFailed, patienceFor, waitSentence } from './import-failure.ts';
import { type FileSpec, type ImapSpec, IMPORT_SECRET, type ImportSpec } from './import-spec.ts';
import { checkRemoteHost } from './remote-host.ts';

const SAVE_MS = 1_000;
/** Name of an upload, which names the folder of an mbox file: the same each time, so that a repeated upload adds nothing. */
const UPLOAD_NAME = 'Imported';

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

/**
 * Runs one job to its end. If `stop` is aborted it stays open, and the next start of the server resumes it. After a failure
 * that may pass it stays open, too, with the time of its next run.
 */
export async function runImport(deps: TransferDeps, job: ImportJobRow, stop: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  const spec = JSON.parse(job.spec) as ImportSpec;
  const attempt = new ImportAttempt(job.progress);
  if (attempt.crashPauseMs > 0) return waitAfterCrash(deps, job, attempt);
  // Stored with the first message: a server that ends within a second has got further.
  const imported: ImportLog = new ImportLog(() => void save(deps, job, imported, attempt).catch(() => undefined));
  await save(deps, job, imported, attempt);
  const saving = setInterval(() => void save(deps, job, imported, attempt).catch(() => undefined), SAVE_MS);
  let proof: PullProof | undefined;
  let problem: string | undefined;
  try {
    await markChosenNames(deps, job);
    if (attempt.isHopeless) throw new Error(`The server ended ${MAX_CRASHES} times while this import ran`);
    await mkdir(transfersDirectory(deps.settings), { recursive: true, mode: 0o700 });
    if (spec.kind === 'file') await importFile(deps, job, spec, imported, stop);
    else proof = await pull(deps, job, spec, imported, stop);
  } catch (error) {
    // A save of the progress after that of the wait would make the import due at once.
    clearInterval(saving);
    attempt.note(imported.progress);
    attempt.endOrderly();
    if (stop.aborted) return await save(deps, job, imported, attempt);
    const patience = patienceFor(error, spec, attempt.hasBegun);
    const retryAt = patience && attempt.retryAfterFailure(clock(), patience);
    if (retryAt !== undefined) {
      log.warn({ err: error, job: job.id, retryAt }, 'import waits');
      return await save(deps, job, imported, attempt, { retryAt, problem: waitSentence(error, spec) });
    }
    problem = failureSentence(error, spec);
    log.warn({ err: error, job: job.id }, 'import failed');
  } finally {
    clearInterval(saving);
  }
  await endImport(deps, job, spec, { imported, proof, problem });
}

async function endImport(
  deps: TransferDeps,
  job: ImportJobRow,
  spec: ImportSpec,
  { imported, proof, problem }: { imported: ImportLog; proof: PullProof | undefined; problem: string | undefined },
): Promise<void> {
  const { store, log, metrics } = deps;
  // Its agent may have read outsiders since it began.
  await markChosenNames(deps, job);
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

/** Postpones an import that may be what ends the server, so that the server can be used meanwhile. */
async function waitAfterCrash({ store, clock, log }: TransferDeps, job: ImportJobRow, attempt: ImportAttempt) {
  const retryAt = clock() + attempt.crashPauseMs;
  attempt.postpone();
  log.warn({ job: job.id, retryAt }, 'import waits, as the server ended while it ran');
  const progress = JSON.stringify({ ...(JSON.parse(job.progress) as object), ...attempt.stored, retryAt });
  const problem = `It waits, and goes on by itself: the server ended ${attempt.crashes} times while it ran.`;
  const report = JSON.stringify({ ...(JSON.parse(job.report) as object), problem });
  await store.writeSlice(updateImportJob, { id: job.id, state: 'running', progress, report });
}

/** Labels and folders of an import are words of whoever chose its source: a tainted agent could pass on what it read. */
async function markChosenNames({ store }: TransferDeps, { account, by }: ImportJobRow): Promise<void> {
  if (rowId('token', by) === undefined) return;
  await store.write(markWordsOfWriter, { account, by, kinds: ['labels', 'folders'] });
}

/** Stores the progress. `wait`: when the import runs next, and why not now. */
async function save(
  { store }: TransferDeps,
  { id }: ImportJobRow,
  log: ImportLog,
  attempt: ImportAttempt,
  wait?: { retryAt: number; problem: string },
): Promise<void> {
  if (wait === undefined) attempt.note(log.progress);
  const progress = JSON.stringify({ ...log.progress, ...attempt.stored, ...(wait && { retryAt: wait.retryAt }) });
  const report = JSON.stringify({ ...log.report, ...(wait && { problem: wait.problem }) });
  await store.writeSlice(updateImportJob, { id, state: 'running', progress, report });
}

/** Time of the next run of a job that waits, ms UTC; 0: it does not wait. */
export function retryTime({ progress }: Pick<ImportJobRow, 'progress'>): number {
  return (JSON.parse(progress) as { retryAt?: number }).retryAt ?? 0;
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
      name: spec.name ?? (spec.path === null ? UPLOAD_NAME : undefined),
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
  if ('problem' in checked) throw checked.isTemporary ? new LookupFailed(checked.problem) : new Error(checked.problem);
  if (job.secret === null) throw new Error('Its password was forgotten: start a new import');
  const text = secrets.open(...IMPORT_SECRET, job.by, job.secret).toString();
  const { host, port, tls, anyCertificate, user, auth, labels, deletions, perSecond, folder } = spec;
  const secret = auth === 'password' ? { password: text } : { accessToken: text };
  const remote = { host, ip: checked.ip, port, tls, anyCertificate, user, secret };
  const options = { labels, deletions, perSecond, below: folder ?? undefined, maxOctets: settings.maxMessageBytes };
  return pullAccount(store, { account: job.account, remote, options, pass: Date.now(), clock, stop }, log);
}
