import { setTimeout as delay } from 'node:timers/promises';
import type { ImapFlow } from 'imapflow';
import type { MailStore } from '../../store/store.ts';
import { openRemoteFolder } from '../../store/transfer/remote-folder.ts';
import { acceptedFolder } from '../folder-names.ts';
import { problemOf } from '../file-import.ts';
import { placeByLabels } from '../gmail-labels.ts';
import type { ImportLog } from '../import-log.ts';
import { type ImportOutcome, Importer, ImportStopped } from '../importer.ts';
import { type FolderPull, pulledBefore, pullFolder, type RemoteFacts, remoteFacts } from './pull-folder.ts';
import { proveFolder } from './pull-proof.ts';
import type { FolderProof, PullDifference, PullOptions, PullProof, RemoteAccount } from './pull-types.ts';
import { foldersToPull, type RemoteFolder } from './remote-folders.ts';
import { connectRemote, LoginRefused, RemoteFlood, withOctetLimit } from './remote-session.ts';

/** Lost connections in a row without a new message, after which the pull gives up. */
const MAX_RETRIES = 6;
const FIRST_PAUSE_MS = 500;
const MAX_LISTED = 500;
/** Octets of a list of folders: tens of thousands of short names take a hundred times as much memory. */
const MAX_LIST_OCTETS = 1024 * 1024;
/** Octets of the responses to STATUS and EXAMINE. */
const MAX_STATUS_OCTETS = 1024 * 1024;

/** The pull of one remote account into one account here. */
export interface PullPlan {
  account: number;
  remote: RemoteAccount;
  options: PullOptions;
  pass: number;
  clock: () => number;
  stop: AbortSignal;
}

/** Pulls all folders of an account of another server, and proves the result. Throws if it cannot go on. */
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
  #client: ImapFlow | undefined;
  /** Names of folders here, by name there. */
  readonly #names = new Map<string, string>();
  readonly #mailboxes = new Map<string, { id: number; name: string } | undefined>();
  /** By folder: lost connections by UID, and problems by UID. */
  readonly #suspects = new Map<string, Map<number, number>>();
  readonly #skipped = new Map<string, Map<number, string>>();
  #fetching: ReadonlyMap<number, unknown> = new Map();
  #count = 0;
  #nextAt = 0;

  constructor(store: MailStore, plan: PullPlan, log: ImportLog) {
    this.#store = store;
    this.#plan = plan;
    this.#log = log;
    this.#importer = new Importer(store, { ...plan, maxOctets: plan.options.maxOctets });
  }

  close(): void {
    this.#client?.close();
  }

  async run(): Promise<PullProof> {
    const folders = await this.#retried('', (client) => this.#list(client));
    for (const folder of folders) await this.#retried(folder.path, (client) => this.#pull(client, folder));
    const proofs: FolderProof[] = [];
    const differences: PullDifference[] = [];
    let all = 0;
    for (const folder of folders) {
      const found = await this.#retried(folder.path, (client) => this.#prove(client, folder));
      proofs.push(found.proof);
      all += found.differences.length;
      differences.push(...found.differences.slice(0, MAX_LISTED - differences.length));
    }
    const equal = proofs.every((one) => one.equal);
    return { equal, folders: proofs, differences, moreDifferences: all - differences.length };
  }

  /** Runs a step with a connection; after a lost one again, as long as messages come. */
  async #retried<T>(path: string, step: (client: ImapFlow) => Promise<T>): Promise<T> {
    for (let failures = 0; ;) {
      const before = this.#count;
      try {
        if (this.#client?.usable !== true) this.#client = await this.#connect();
        const result = await step(this.#client);
        await this.#importer.flush();
        return result;
      } catch (error) {
        this.#client?.close();
        this.#client = undefined;
        // Messages that were read are committed; a failure of that is an error of this server.
        await this.#importer.flush();
        this.#plan.stop.throwIfAborted();
        if (error instanceof ImportStopped || error instanceof LoginRefused || error instanceof RemoteFlood)
          throw error;
        this.#suspect(path);
        failures = this.#count > before ? 1 : failures + 1;
        if (failures > MAX_RETRIES) throw error;
        await delay(FIRST_PAUSE_MS * 2 ** (failures - 1), undefined, { signal: this.#plan.stop });
      }
    }
  }

  #connect(): Promise<ImapFlow> {
    return connectRemote(this.#plan.remote, this.#plan.options.maxOctets, this.#plan.stop);
  }

  /** The first message of a FETCH that was not answered may be the reason for the lost connection. */
  #suspect(path: string): void {
    const [first] = this.#fetching.keys();
    this.#fetching = new Map();
    if (first === undefined) return;
    const all = this.#suspects.get(path) ?? new Map<number, number>();
    all.set(first, (all.get(first) ?? 0) + 1);
    this.#suspects.set(path, all);
  }

  async #list(client: ImapFlow): Promise<RemoteFolder[]> {
    const isGmail = client.capabilities.has('X-GM-EXT-1');
    const prefix = client.namespace?.prefix ?? '';
    const { labels } = this.#plan.options;
    const folders = foldersToPull(await withOctetLimit(client, MAX_LIST_OCTETS, () => client.list()), {
      prefix,
      labels,
      isGmail,
    });
    let total = 0;
    for (const { path } of folders) {
      const status = await withOctetLimit(client, MAX_STATUS_OCTETS, () => client.status(path, { messages: true }));
      total += status === false ? 0 : (status.messages ?? 0);
    }
    this.#log.progress.total = total;
    return folders;
  }

  async #open(client: ImapFlow, folder: RemoteFolder): Promise<number> {
    const opened = await withOctetLimit(client, MAX_STATUS_OCTETS, () =>
      client.mailboxOpen(folder.path, { readOnly: true }),
    );
    const { account, remote } = this.#plan;
    const home = await this.#mailboxOf(folder.name, folder.role);
    const source = `${remote.user}@${remote.host}:${remote.port}`.toLowerCase();
    const uidValidity = String(opened.uidValidity);
    this.#names.set(folder.path, home?.name ?? folder.name);
    const input = { account, source, name: folder.path, uidValidity, mailbox: home?.id ?? 0 };
    return this.#store.write(openRemoteFolder, input);
  }

  async #pull(client: ImapFlow, folder: RemoteFolder): Promise<void> {
    const { account, options, stop } = this.#plan;
    this.#log.progress.folder = folder.path;
    const row = await this.#open(client, folder);
    const skipped = new Map<number, string>();
    this.#skipped.set(folder.path, skipped);
    const pull: FolderPull = {
      store: this.#store,
      account,
      client,
      folder,
      row,
      options,
      importer: this.#importer,
      suspects: this.#suspects.get(folder.path) ?? new Map(),
      mailboxFor: (facts) => this.#mailboxFor(folder, facts),
      onOutcome: (name, uid, outcome, size) => this.#note(folder, name, uid, outcome, size),
      onProblem: (uid, problem) => this.#skip(folder, uid, problem),
      onFetch: (left) => (this.#fetching = left),
      pace: () => this.#pace(),
      stop,
    };
    await pullFolder(pull);
    await this.#importer.flush();
    const now = client.mailbox === false ? undefined : String(client.mailbox.uidValidity);
    if (now === undefined) throw new Error('The other server closed the folder');
  }

  #note(folder: RemoteFolder, name: string, uid: number, outcome: ImportOutcome, size: number): void {
    if (outcome.kind !== 'imported' && outcome.kind !== 'known') return this.#skip(folder, uid, problemOf(outcome));
    this.#count++;
    if (outcome.kind === 'imported') this.#log.imported(name, size);
    else this.#log.known(name);
  }

  /** Reports a message once, though a pass may be repeated. */
  #skip(folder: RemoteFolder, uid: number, problem: string): void {
    const skipped = this.#skipped.get(folder.path);
    if (skipped?.has(uid) === true) return;
    skipped?.set(uid, problem);
    this.#log.skip(`${folder.path}, UID ${uid}`, problem);
  }

  async #prove(client: ImapFlow, folder: RemoteFolder) {
    const row = await this.#open(client, folder);
    const there = await remoteFacts(client, folder.isAllMail);
    const pulled = await pulledBefore(this.#store, this.#plan.account, row);
    const names = {
      source: folder.path,
      folder: this.#names.get(folder.path) ?? folder.name,
      isAllMail: folder.isAllMail,
    };
    return proveFolder(this.#store, names, there, pulled, this.#skipped.get(folder.path) ?? new Map());
  }

  #mailboxFor(folder: RemoteFolder, { labels }: RemoteFacts): Promise<{ id: number; name: string } | undefined> {
    if (!folder.isAllMail || labels === undefined) return this.#mailboxOf(folder.name, folder.role);
    const place = placeByLabels(labels.map((label) => `"${label.replace(/^\\/, '').replaceAll('"', '')}"`).join(','));
    return this.#mailboxOf(place.folder, place.role);
  }

  async #mailboxOf(name: string, role: RemoteFolder['role']): Promise<{ id: number; name: string } | undefined> {
    const { below } = this.#plan.options;
    const key = `${role ?? ''}/${name}`;
    if (this.#mailboxes.get(key) === undefined) {
      const full = below === undefined ? name : acceptedFolder(`${below}/${name}`);
      this.#mailboxes.set(key, await this.#importer.folder(full, below === undefined ? role : undefined));
    }
    return this.#mailboxes.get(key);
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
