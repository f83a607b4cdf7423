import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Job } from '../../mail/jobs/scheduler.ts';
import { dueImportJobs, expireUploads, type ImportJobRow, isImportOpen } from '../../mail/store/transfer/import-job.ts';
import { type ExportCounts, exportAccount } from '../../mail/transfer/exporter.ts';
import { createDraft, ForeignDraft } from '../../mail/transfer/export-draft.ts';
import { DirectoryTarget, type ExportTarget, ZipTarget } from '../../mail/transfer/export-target.ts';
import type { ExportRequest, ExportStatus, MailTransfers } from '../core/mail-transfers.ts';
import type { ImportSpec } from './import-spec.ts';
import { retryTime, runImport, type TransferDeps, transfersDirectory, uploadPath } from './import-run.ts';

/** Jobs of one organization that run at the same time, unless fewer run at all. */
const MAX_RUNNING_OF_ONE = 3;
const MAX_EXPORTS = 4;
/** Files of one organization: a new export replaces the oldest. */
const MAX_FILES_OF_ONE = 20;
/** Finished exports that are remembered. */
const MAX_REMEMBERED = 200;
const FILE_MS = 24 * 3600_000;
/** Pause between two looks whether an import that waits is due. */
const RETRY_LOOK_MS = 1_000;
/** Pause after the store failed: a run whose result it did not take, or a look for jobs. */
const UNSTORED_MS = 30_000;
/** Time for an upload, whose link holds for a day. */
const WAITING_MS = 2 * FILE_MS;

/** Runs imports and exports: a few at a time, and those that a stop of the server interrupted again. */
export class TransferRunner implements MailTransfers, AsyncDisposable {
  readonly name = 'transfers';
  readonly everyMs = 3600_000;
  readonly firstMs = 60_000;
  readonly #deps: TransferDeps;
  readonly #maxRunning: number;
  readonly #stop = new AbortController();
  readonly #running = new Map<number, { tenant: number; stop: AbortController; done: Promise<void> }>();
  readonly #exports = new Map<string, ExportStatus>();
  readonly #exporting = new Set<Promise<void>>();
  /** Jobs whose last run could not be stored, with the time of the next. */
  readonly #unstored = new Map<number, number>();
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  /** Time of the next run of a job that waits. */
  #nextRetryAt = Infinity;

  /** `maxRunning`: imports at once. */
  constructor(deps: TransferDeps, maxRunning: number) {
    this.#deps = deps;
    this.#maxRunning = maxRunning;
  }

  /** Imports that run now; those that wait are none of them. */
  get running(): number {
    return this.#running.size;
  }

  startImport(_id: number): void {
    this.#look();
  }

  stopImport(id: number): void {
    this.#running.get(id)?.stop.abort();
  }

  uploadPath(id: number): string {
    return uploadPath(this.#deps.settings, id);
  }

  /** Resumes the jobs that were open when the server ended. */
  begin(): void {
    this.#look();
  }

  /** Deletes uploads and exports that nobody fetched for a day, and ends imports whose upload did not come. */
  async run(): Promise<void> {
    const { store, settings, clock } = this.#deps;
    await store.write(expireUploads, { before: clock() - WAITING_MS });
    const directory = transfersDirectory(settings);
    for (const name of await readdir(directory).catch(() => [])) {
      const path = join(directory, name);
      const { mtimeMs } = await stat(path);
      const id = Number(/^upload-(\d{1,15})$/.exec(name)?.[1] ?? 0);
      if (Date.now() - mtimeMs <= FILE_MS || (await store.read(isImportOpen, { id }))) continue;
      await rm(path, { recursive: true, force: true });
    }
  }

  /** Runs the imports that wait once their time has come. */
  readonly retries: Job = {
    name: 'import-retries',
    everyMs: RETRY_LOOK_MS,
    run: () => {
      if (this.#nextRetryAt <= this.#deps.clock()) this.#look();
      return Promise.resolve();
    },
  };

  #look(): void {
    this.#lookAgain = true;
    this.#looking ??= this.#startDue()
      .catch((error: unknown) => {
        this.#nextRetryAt = this.#deps.clock() + UNSTORED_MS;
        this.#deps.log.error({ err: error }, 'failed to start imports');
      })
      .finally(() => (this.#looking = undefined));
  }

  async #startDue(): Promise<void> {
    while (this.#lookAgain && !this.#stop.signal.aborted) {
      this.#lookAgain = false;
      const open = await this.#deps.store.read(dueImportJobs, undefined);
      for (const job of this.#dueOf(open.filter((one) => !this.#running.has(one.id) && this.#isMine(one)))) {
        if (this.#running.size >= this.#maxRunning) return;
        if (this.#runningOf(job.tenant) >= Math.max(1, Math.min(MAX_RUNNING_OF_ONE, this.#maxRunning - 1))) continue;
        const stop = new AbortController();
        const signal = AbortSignal.any([stop.signal, this.#stop.signal]);
        const done = runImport(this.#deps, job, signal)
          .catch((error: unknown) => {
            // The same run again, at once and without end, would be as much as the store can take.
            this.#unstored.set(job.id, this.#deps.clock() + UNSTORED_MS);
            this.#deps.log.error({ err: error, job: job.id }, 'failed to record an import');
          })
          .finally(() => {
            this.#running.delete(job.id);
            if (!signal.aborted) this.#look();
          });
        this.#running.set(job.id, { tenant: job.tenant, stop, done });
      }
    }
  }

  /** Those of the jobs that do not wait; notes when the first of the others is due. */
  #dueOf(open: readonly ImportJobRow[]): ImportJobRow[] {
    const now = this.#deps.clock();
    const timeOf = (job: ImportJobRow): number => Math.max(retryTime(job), this.#unstored.get(job.id) ?? 0);
    this.#nextRetryAt = Math.min(Infinity, ...open.map(timeOf).filter((at) => at > now));
    for (const [id, at] of this.#unstored) if (at <= now) this.#unstored.delete(id);
    return open.filter((job) => timeOf(job) <= now);
  }

  /** An import runs on the node that it was asked of, which has its upload. */
  #isMine({ spec }: ImportJobRow): boolean {
    const { node } = this.#deps.settings;
    return node === undefined || (JSON.parse(spec) as ImportSpec).node === node;
  }

  #runningOf(tenant: number): number {
    return [...this.#running.values()].filter((one) => one.tenant === tenant).length;
  }

  async startExport(request: ExportRequest): Promise<ExportStatus | undefined> {
    if (this.#exporting.size >= MAX_EXPORTS) return undefined;
    const directory = transfersDirectory(this.#deps.settings);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const id = randomBytes(16).toString('hex');
    const { tenant, account } = request;
    if (request.path === undefined) await this.#dropOldest(tenant);
    const path = request.path ?? join(directory, `export-${id}.zip`);
    const status: ExportStatus = {
      id,
      state: 'running',
      path,
      account,
      tenant,
      messages: 0,
      bytes: 0,
      damaged: [],
      problem: null,
    };
    this.#remember(status);
    const done = this.#export(request, status).finally(() => this.#exporting.delete(done));
    this.#exporting.add(done);
    return status;
  }

  /** Deletes the oldest files of an organization, so that the next is one of a few. */
  async #dropOldest(tenant: number): Promise<void> {
    const directory = transfersDirectory(this.#deps.settings);
    const own = [...this.#exports.values()].filter(
      ({ tenant: of, state, path }) => of === tenant && state !== 'running' && dirname(path) === directory,
    );
    for (const { id, path } of own.slice(0, Math.max(0, own.length - MAX_FILES_OF_ONE + 1))) {
      this.#exports.delete(id);
      await rm(path, { force: true });
    }
  }

  exportStatus(id: string): ExportStatus | undefined {
    return this.#exports.get(id);
  }

  #remember(status: ExportStatus): void {
    const [oldest] = [...this.#exports.values()].filter(({ state }) => state !== 'running');
    if (this.#exports.size >= MAX_REMEMBERED && oldest !== undefined) this.#exports.delete(oldest.id);
    this.#exports.set(status.id, status);
  }

  async #export(request: ExportRequest, status: ExportStatus): Promise<void> {
    const { account, address, format, path, createDirectory = false } = request;
    const { store, clock, log } = this.#deps;
    const onProgress = (counts: ExportCounts): void => {
      Object.assign(status, counted(counts));
      // A path that the operator names may be on another disk.
      const busy = path === undefined ? store.unavailable() : undefined;
      if (busy !== undefined) throw busy;
    };
    let target: ExportTarget | undefined;
    try {
      if (createDirectory) await createIfMissing(dirname(status.path));
      target = await (status.path.endsWith('.zip') ? ZipTarget : DirectoryTarget).create(status.path);
      const plan = { account, address, format, below: '', now: clock(), stop: this.#stop.signal };
      const done = await exportAccount(store, { ...plan, onProgress }, target);
      await target.finish();
      Object.assign(status, { ...counted(done), state: 'done' });
    } catch (error) {
      await target?.abort().catch(() => undefined);
      log.warn({ err: error }, 'export failed');
      Object.assign(status, { state: 'failed', problem: problemOf(error, status.path) });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#looking;
    await Promise.allSettled([...[...this.#running.values()].map(({ done }) => done), ...this.#exporting]);
  }
}

/**
 * Creates the directory that the exports of several mailboxes go into. Not recursive: in a file system that creates nothing,
 * such as /proc, Node would try without end.
 */
async function createIfMissing(directory: string): Promise<void> {
  await createDraft(directory).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
}

function counted({ messages, bytes, damaged }: Pick<ExportStatus, 'messages' | 'bytes' | 'damaged'>) {
  return { messages, bytes, damaged: damaged.slice(0, 200) };
}

/** A sentence for people: what happened and what to do next. */
function problemOf(error: unknown, path: string): string {
  if (error instanceof ForeignDraft) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  const known: Readonly<Record<string, string>> = {
    EEXIST: `${path} exists: name another target, an export never writes into one.`,
    ENOENT: `The directory of ${path} does not exist: create it.`,
    EACCES: `The server may not write ${path}: choose a directory of its user.`,
    EPERM: `The server may not write ${path}: choose a directory of its user.`,
    ENOSPC: `The disk of ${path} is full: free some space, then export again.`,
  };
  return known[code ?? ''] ?? `The export failed: ${message}.`;
}
