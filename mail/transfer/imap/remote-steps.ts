import { setTimeout as delay } from 'node:timers/promises';
import type { ImapFlow } from 'imapflow';
import { StoreBusy } from '../../store/engine/types.ts';
import { ImportStopped } from '../importer.ts';
import type { PullPlan } from './pull-types.ts';
import {
  FolderRefused,
  isMissingFolder,
  isRefusal,
  isTemporary,
  isTooLarge,
  LoginRefused,
  ownText,
  RemoteAnswerInvalid,
  RemoteUnavailable,
} from './remote-failure.ts';
import { connectRemote } from './remote-session.ts';

/** Failures in a row that got no further, after which the pull ends: whoever runs it tries it again later. */
const MAX_RETRIES = 6;
/** The same for a folder that the server refuses. */
const MAX_REFUSALS = 2;
const FIRST_PAUSE_MS = 500;

/** Errors that another attempt of the same step does not mend. */
const ENDS = [ImportStopped, LoginRefused, FolderRefused, RemoteAnswerInvalid] as const;

const GONE = 'Deleted or renamed there since the import began: import again';

/** Runs the steps of a pull with a connection to the other server, which it opens again after a failure. */
export class RemoteSteps {
  readonly #plan: PullPlan;
  readonly #flush: () => Promise<void>;
  #client: ImapFlow | undefined;
  /** Lost connections, by folder and UID of the message that was being read. */
  readonly #suspects = new Map<string, Map<number, number>>();
  #fetching: ReadonlyMap<number, unknown> = new Map();
  /** Messages that were dealt with, and pages of the present step that were read. */
  #handled = 0;
  #pages = 0;

  /** `flush` commits the messages that were read. */
  constructor(plan: PullPlan, flush: () => Promise<void>) {
    this.#plan = plan;
    this.#flush = flush;
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }

  /** Runs a step; after a failure again, as long as it gets further. `path`: the folder it reads, '' for none. */
  async run<T>(path: string, step: (client: ImapFlow) => Promise<T>): Promise<T> {
    let furthest = 0;
    for (let failures = 0; ;) {
      const before = this.#handled;
      this.#pages = 0;
      try {
        if (this.#client?.usable !== true) this.#client = await this.#connect();
        const result = await step(this.#client);
        await this.#flush();
        return result;
      } catch (error) {
        const of = path === '' ? 'account' : this.#fetching.size > 0 ? 'message' : 'folder';
        await this.#afterFailure(path, error);
        const isFurther = this.#handled > before || this.#pages > furthest;
        furthest = Math.max(furthest, this.#pages);
        failures = isFurther ? 1 : failures + 1;
        throwIfHopeless(error, failures, of);
        const { firstPauseMs = FIRST_PAUSE_MS, stop } = this.#plan;
        await delay(firstPauseMs * 2 ** (failures - 1), undefined, { signal: stop });
      }
    }
  }

  /** Notes that a message was dealt with: the step has got further. */
  onHandled(): void {
    this.#handled++;
  }

  /** Notes that a page of the folder was read: a step that reads more of them than before has got further. */
  onPage(): void {
    this.#pages++;
  }

  /** Notes the messages that are being read, from which each is removed once it was read. */
  onFetch(left: ReadonlyMap<number, unknown>): void {
    this.#fetching = left;
  }

  /** Lost connections of a folder by the UID that may be their reason. */
  suspectsOf(path: string): ReadonlyMap<number, number> {
    return this.#suspects.get(path) ?? new Map<number, number>();
  }

  /** Ends the connection of a step that failed. Throws if the step may not be run again now. */
  async #afterFailure(path: string, error: unknown): Promise<void> {
    this.close();
    // Messages that were read are committed; a failure of that is an error of this server.
    await this.#flush();
    this.#plan.stop.throwIfAborted();
    if (error instanceof StoreBusy) throw new ImportStopped(error.message, { cause: error });
    if (ENDS.some((kind) => error instanceof kind)) throw error;
    if (isTemporary(error)) this.#fetching = new Map();
    else this.#suspect(path);
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
}

/**
 * Throws once a step failed too often in a row. `of`: what it read. A message that is refused is left out after some attempts,
 * and a folder for itself.
 */
function throwIfHopeless(error: unknown, failures: number, of: 'account' | 'folder' | 'message'): void {
  if (of !== 'account' && isRefusal(error) && !isTemporary(error)) {
    if (isMissingFolder(error)) throw new FolderRefused(GONE);
    if (failures > (of === 'folder' ? MAX_REFUSALS : MAX_RETRIES)) {
      throw new FolderRefused(`The other server refuses it: "${ownText(error)}". Correct it there, then import again`);
    }
  }
  if (failures <= MAX_RETRIES) return;
  if (isTooLarge(error)) throw new RemoteAnswerInvalid(`The other server's answer is too large: ${ownText(error)}`);
  throw new RemoteUnavailable(error instanceof RemoteUnavailable ? error.message : ownText(error), { cause: error });
}
