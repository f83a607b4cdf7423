import { setTimeout as delay } from 'node:timers/promises';
import type { ImapFlow } from 'imapflow';
import type { MailStore } from '../../store/store.ts';
import { openRemoteFolder } from '../../store/transfer/remote-folder.ts';
import { importProblem } from '../file-import.ts';
import type { ImportLog } from '../import-log.ts';
import { type ImportOutcome, Importer, SourceLost } from '../importer.ts';
import { type FolderPull, pulledAmong, pullFolder } from './pull-folder.ts';
import { DifferenceList, type FolderComparison, proveFolder } from './pull-proof.ts';
import { PullTargets } from './pull-targets.ts';
import type { FolderProof, OmittedFolders, PullPlan, PullProof } from './pull-types.ts';
import { FolderRefused, isMissingFolder } from './remote-failure.ts';
import { foldersToPull, omittedFolders, type RemoteFolder } from './remote-folders.ts';
import { folderPages } from './remote-pages.ts';
import { withOctetLimit } from './remote-session.ts';
import { RemoteSteps } from './remote-steps.ts';

/** Differences that a proof lists. */
const MAX_LISTED = 500;
/** Messages of a folder whose problem is remembered for the proof; more have a general one there. */
const MAX_SKIPPED = 100_000;
/** Messages left out in a row that are their own reason: with more of them, the server is. */
const MAX_LEFT_OUT = 10;
/** Octets of a list of folders: tens of thousands of short names take a hundred times as much memory. */
const MAX_LIST_OCTETS = 1024 * 1024;
/** Octets of the responses to STATUS and EXAMINE. */
const MAX_STATUS_OCTETS = 1024 * 1024;

const NO_ROOM = 'The mailbox has as many folders as it can here: delete some, then import again';

/**
 * Pulls all folders of an account of another server, and proves the result. Throws RemoteUnavailable or ImportStopped if a
 * later pull can succeed, and another error if none can.
 */
export async function pullAccount(store: MailStore, plan: PullPlan, log: ImportLog): Promise<PullProof> {
  const pull = new AccountPull(store, plan, log);
  try {
    return await pull.run();
  } finally {
    pull.close();
  }
}

class AccountPull {
  readonly #store: MailStore;
  readonly #plan: PullPlan;
  readonly #log: ImportLog;
  readonly #importer: Importer;
  readonly #steps: RemoteSteps;
  readonly #targets: PullTargets;
  /** Names of folders here, by name there. */
  readonly #names = new Map<string, string>();
  /** Problems by UID, of each row of a folder: UIDs of another UIDVALIDITY are those of other messages. */
  readonly #skipped = new Map<number, Map<number, string>>();
  /** Folders there that could not be created here. */
  readonly #homeless = new Set<string>();
  /** Folders that the other server refuses to read, by reason. */
  readonly #refused = new Map<string, string>();
  #leftOut = 0;
  #nextAt = 0;

  constructor(store: MailStore, plan: PullPlan, log: ImportLog) {
    this.#store = store;
    this.#plan = plan;
    this.#log = log;
    this.#importer = new Importer(store, { ...plan, maxOctets: plan.options.maxOctets });
    this.#steps = new RemoteSteps(plan, () => this.#importer.flush());
    this.#targets = new PullTargets(this.#importer, plan.options.below);
  }

  close(): void {
    this.#steps.close();
  }

  async run(): Promise<PullProof> {
    const { folders, omitted } = await this.#steps.run('', (client) => this.#list(client));
    for (const folder of folders) await this.#ofFolder(folder, (client) => this.#pull(client, folder));
    const proofs: FolderProof[] = [];
    const differences = new DifferenceList(MAX_LISTED);
    const changedHere = new DifferenceList(MAX_LISTED);
    for (const folder of folders.filter(({ path }) => !this.#homeless.has(path))) {
      const found = await this.#ofFolder(folder, (client) => this.#prove(client, folder));
      if (found === undefined) continue;
      proofs.push(found.proof);
      differences.addAll(found.differences);
      changedHere.addAll(found.changedHere);
    }
    omitted.push(...omittedFolders([...this.#homeless], NO_ROOM), ...this.#refusals());
    return {
      equal: omitted.length === 0 && proofs.every((one) => one.equal),
      omitted,
      folders: proofs,
      differences: differences.listed,
      moreDifferences: differences.more,
      changedHere: changedHere.listed,
      moreChangedHere: changedHere.more,
    };
  }

  /** Runs a step of a folder. Undefined: the other server refuses the folder, and the others go on. */
  async #ofFolder<T>({ path }: RemoteFolder, step: (client: ImapFlow) => Promise<T>): Promise<T | undefined> {
    if (this.#refused.has(path)) return undefined;
    try {
      return await this.#steps.run(path, step);
    } catch (error) {
      if (!(error instanceof FolderRefused)) throw error;
      this.#refused.set(path, error.message);
      return undefined;
    }
  }

  #refusals(): OmittedFolders[] {
    const byProblem = Map.groupBy(this.#refused, ([, problem]) => problem);
    return [...byProblem].flatMap(([problem, folders]) =>
      omittedFolders(
        folders.map(([path]) => path),
        problem,
      ),
    );
  }

  async #list(client: ImapFlow): Promise<{ folders: RemoteFolder[]; omitted: OmittedFolders[] }> {
    const isGmail = client.capabilities.has('X-GM-EXT-1');
    const prefix = client.namespace?.prefix ?? '';
    const { labels } = this.#plan.options;
    const chosen = foldersToPull(await withOctetLimit(client, MAX_LIST_OCTETS, () => client.list()), {
      prefix,
      labels,
      isGmail,
    });
    let total = 0;
    for (const { path } of chosen.folders) {
      total += await this.#countOf(client, path);
    }
    this.#log.progress.total = total;
    return chosen;
  }

  /** Messages of a folder; 0 if the server refuses to count them. */
  async #countOf(client: ImapFlow, path: string): Promise<number> {
    try {
      const status = await withOctetLimit(client, MAX_STATUS_OCTETS, () => client.status(path, { messages: true }));
      // The library answers false for a lost connection, too.
      if (!client.usable) throw new SourceLost('The connection was lost');
      return status === false ? 0 : (status.messages ?? 0);
    } catch (error) {
      if (!isMissingFolder(error)) throw error;
      return 0;
    }
  }

  async #open(client: ImapFlow, folder: RemoteFolder): Promise<number> {
    const opened = await withOctetLimit(client, MAX_STATUS_OCTETS, () =>
      client.mailboxOpen(folder.path, { readOnly: true }),
    );
    const { account, remote } = this.#plan;
    const home = await this.#targets.byName(folder.name, folder.role);
    const source = `${remote.user}@${remote.host}:${remote.port}`.toLowerCase();
    const uidValidity = String(opened.uidValidity);
    this.#names.set(folder.path, home?.name ?? folder.name);
    const input = { account, source, name: folder.path, uidValidity, mailbox: home?.id ?? 0 };
    return this.#store.write(openRemoteFolder, input);
  }

  async #pull(client: ImapFlow, folder: RemoteFolder): Promise<void> {
    const { account, options, stop } = this.#plan;
    this.#log.progress.folder = folder.path;
    if ((await this.#targets.byName(folder.name, folder.role)) === undefined)
      return void this.#homeless.add(folder.path);
    const row = await this.#open(client, folder);
    const skipped = this.#skippedOf(row);
    const pull: FolderPull = {
      store: this.#store,
      account,
      client,
      folder,
      row,
      options,
      importer: this.#importer,
      suspects: this.#steps.suspectsOf(folder.path),
      mailboxFor: (facts) => this.#targets.of(folder, facts),
      onOutcome: (name, uid, outcome, size) => {
        if (outcome.kind === 'imported' || outcome.kind === 'known') this.#note(name, outcome, size);
        else this.#skip(folder, skipped, uid, importProblem(outcome));
      },
      onProblem: (uid, problem) => this.#skip(folder, skipped, uid, problem),
      onNote: (uid, note) => this.#log.note(`${folder.path}, UID ${uid}`, note),
      onFetch: (left) => this.#steps.onFetch(left),
      onPage: () => this.#steps.onPage(),
      pace: () => this.#pace(),
      stop,
    };
    await pullFolder(pull);
    await this.#importer.flush();
  }

  #note(name: string, { kind }: ImportOutcome, size: number): void {
    this.#steps.onHandled();
    this.#leftOut = 0;
    if (kind === 'imported') this.#log.imported(name, size);
    else this.#log.known(name);
  }

  #skippedOf(row: number): Map<number, string> {
    const found = this.#skipped.get(row) ?? new Map<number, string>();
    this.#skipped.set(row, found);
    return found;
  }

  /** Reports a message once, though the step may be repeated after a failure. */
  #skip({ path }: RemoteFolder, skipped: Map<number, string>, uid: number, problem: string): void {
    if (skipped.has(uid)) return;
    if (skipped.size < MAX_SKIPPED) skipped.set(uid, problem);
    // A message that is left out is dealt with: the next one may end the connection, too.
    if (this.#leftOut++ < MAX_LEFT_OUT) this.#steps.onHandled();
    this.#log.skip(`${path}, UID ${uid}`, problem);
  }

  async #prove(client: ImapFlow, folder: RemoteFolder): Promise<FolderComparison> {
    const row = await this.#open(client, folder);
    const store = this.#store;
    const { account } = this.#plan;
    const names = {
      source: folder.path,
      folder: this.#names.get(folder.path) ?? folder.name,
      isAllMail: folder.isAllMail,
    };
    const steps = this.#steps;
    async function* pages() {
      for await (const there of folderPages(client, folder)) {
        steps.onPage();
        yield { there, pulled: await pulledAmong(store, { account, row }, there) };
      }
    }
    return proveFolder(store, names, pages(), this.#skippedOf(row), MAX_LISTED);
  }

  /** Keeps to the messages a second that were asked for. */
  async #pace(): Promise<void> {
    const { perSecond } = this.#plan.options;
    if (perSecond === 0) return;
    const now = performance.now();
    this.#nextAt = Math.max(this.#nextAt + 1_000 / perSecond, now);
    if (this.#nextAt - now >= 1) await delay(this.#nextAt - now, undefined, { signal: this.#plan.stop });
  }
}
