import { StateWatch } from '../../mail/jmap/push/state-watch.ts';
import type { Log, Meter } from '../../mail/log.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import type { StateType } from '../../mail/store/account/type-state.ts';
import type { Caller } from '../core/caller.ts';
import { currentToken } from '../tokens/token-validity.ts';
import { Cursors } from './cursor.ts';
import { FairShare } from './fair-share.ts';
import { SharedJournalFeed } from './journal-feed.ts';
import { CallerWait } from './caller-wait.ts';
import type { WaitRequest } from '../core/mail-waits.ts';

/** Concurrent waits per credential, and in total. */
const MAX_WAITS = { ofOne: 100, all: 2_000 };
/** Maximum duration of a stream; its client reconnects. */
const MAX_STREAM_SECONDS = 86_400;
/** Interval in which the tokens of waiting callers are checked. */
const TOKEN_CHECK_MS = 5_000;
/** Changes that wake a wait for mail: arrivals, and moved messages. */
const TYPES: ReadonlySet<StateType> = new Set(['EmailDelivery', 'Mailbox']);

interface WaitDeps {
  store: MailStore;
  log: Log;
  metrics: Meter;
  secrets: SecretBox;
  clock: () => number;
}

/**
 * All callers that wait for mail. One read of an account's state after a commit serves all its waits. At the total limit an
 * organization with fewer waits displaces one of the organization with the most.
 */
export class WaitRegistry implements Disposable {
  readonly cursors: Cursors;
  readonly journal: SharedJournalFeed;
  readonly #watch: StateWatch;
  readonly #deps: WaitDeps;
  /** By credential. */
  readonly #open = new Map<string, Set<CallerWait>>();
  /** By organization. */
  readonly #shares = new FairShare<CallerWait>();
  #stopping = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: WaitDeps) {
    this.#deps = deps;
    this.#watch = new StateWatch(deps.store, deps.log);
    this.journal = new SharedJournalFeed(deps.store, deps.log);
    this.cursors = new Cursors(deps.secrets.subkey('wait cursor'));
  }

  get size(): number {
    return this.#shares.count;
  }

  /**
   * Begins a wait, to be disposed of; undefined: the limit of its credential, or the fair share of its organization, is
   * reached. Changes from now on wake it.
   */
  async begin(request: WaitRequest): Promise<CallerWait | undefined> {
    return (await this.beginAll([request]))?.[0];
  }

  /** Begins several waits of one caller, or none. Displaces no other wait unless all can begin. */
  async beginAll(all: readonly WaitRequest[]): Promise<CallerWait[] | undefined> {
    const [first] = all;
    if (first !== undefined && !this.#makeRoom(first.caller, all.length)) return undefined;
    const entered = all.map((request) => ({ request, wait: this.#enter(request) }));
    using begun = new DisposableStack();
    for (const { wait } of entered) begun.use(wait);
    for (const { request, wait } of entered) {
      const { account, types = TYPES } = request;
      const accounts = new Map(account === undefined ? [] : [['', account]]);
      wait.onEnd(await this.#watch.add({ accounts, types, notify: () => wait.wake('changed') }));
    }
    begun.move();
    return entered.map(({ wait }) => wait);
  }

  /** Maximum duration of a caller's stream, seconds: not longer than its access token. */
  maxStreamSeconds({ token }: Caller): number {
    const remaining = (token?.expiresAt ?? Infinity) - this.#deps.clock();
    return Math.max(0, Math.min(MAX_STREAM_SECONDS, remaining / 1000));
  }

  /** False when the caller's token ended during the wait. */
  async isTokenValid({ token }: Caller): Promise<boolean> {
    return token === undefined || (await currentToken(this.#deps, token)) !== undefined;
  }

  /** Wakes all waits for shutdown; clients continue with their cursor. */
  stop(): void {
    this.#stopping = true;
    for (const own of this.#open.values()) for (const wait of own) wait.wake('stopping');
  }

  [Symbol.dispose](): void {
    this.stop();
    clearInterval(this.#timer);
    this.journal[Symbol.dispose]();
    this.#watch[Symbol.dispose]();
  }

  /** Makes room for `count` waits, displacing others if needed; false when the limit is reached. */
  #makeRoom(caller: Caller, count: number): boolean {
    const own = this.#open.get(caller.actor)?.size ?? 0;
    const missing = this.size + count - MAX_WAITS.all;
    if (own + count > MAX_WAITS.ofOne) return false;
    if (missing > 0 && !this.#shares.canYield(tenantOf(caller), count, missing)) return false;
    for (let i = 0; i < missing; i++) this.#displace(tenantOf(caller));
    return true;
  }

  #displace(newcomer: number): void {
    const leaving = this.#shares.oldestOfLargest(newcomer);
    if (leaving === undefined) return;
    // Releases its slot at once: the wait may be busy in a read or with a slow client.
    this.#end(leaving);
    leaving.wake('displaced');
    this.#deps.metrics.count('waits_displaced_total');
  }

  #enter(request: WaitRequest): CallerWait {
    const wait = new CallerWait(request, () => this.#end(wait));
    const { caller } = wait;
    const own = this.#open.get(caller.actor) ?? new Set();
    this.#open.set(caller.actor, own.add(wait));
    this.#shares.add(tenantOf(caller), wait);
    this.#deps.metrics.gauge('waits_open', this.size);
    this.#timer ??= setInterval(() => void this.#checkTokens(), TOKEN_CHECK_MS).unref();
    if (this.#stopping) wait.wake('stopping');
    return wait;
  }

  #end(wait: CallerWait): void {
    const { caller } = wait;
    if (!this.#shares.remove(tenantOf(caller), wait)) return;
    this.#deps.metrics.gauge('waits_open', this.size);
    const own = this.#open.get(caller.actor);
    own?.delete(wait);
    if (own?.size === 0) this.#open.delete(caller.actor);
    if (this.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #checkTokens(): Promise<void> {
    try {
      for (const own of this.#open.values()) await this.#checkToken(own);
    } catch (error) {
      // Not fatal: the token is checked again before anything is reported.
      this.#deps.log.warn({ err: error }, 'failed to check tokens of waiting callers, will retry');
    }
  }

  async #checkToken(own: ReadonlySet<CallerWait>): Promise<void> {
    const [one] = own;
    if (one?.caller.token === undefined) return;
    const token = await currentToken(this.#deps, one.caller.token);
    for (const wait of own) {
      if (token === undefined) wait.wake('out');
      else wait.setMode(token.mode);
    }
  }
}

/** The owner of a wait in the fair share. */
function tenantOf({ organization = 0 }: Caller): number {
  return organization;
}
