import { StateWatch } from '../../mail/jmap/push/watch.ts';
import type { Log, Meter } from '../../mail/log.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import type { StateType } from '../../mail/store/type-state.ts';
import type { Caller } from '../operations/caller.ts';
import { heldToken } from '../tokens/holds.ts';
import { Cursors } from './cursor.ts';
import { Places } from './places.ts';
import { Story } from './story.ts';
import { Wait, type Waiting } from './wait.ts';

/** Waits that are under way at once: of one credential, and in all. */
const MOST = { ofOne: 100, all: 2_000 };
/** A stream ends after so long; its client opens another one. */
const LONGEST_SECONDS = 86_400;
/** How often the tokens of those who wait are looked at again. */
const LOOK_MS = 5_000;
/** Of messages that come, and of messages that change their place. */
const TYPES: ReadonlySet<StateType> = new Set(['EmailDelivery', 'Mailbox']);

interface Needs {
  store: MailStore;
  log: Log;
  metrics: Meter;
  secrets: SecretBox;
  clock: () => number;
}

interface Asked extends Waiting {
  /** Whose changes wake it; undefined: nobody's. */
  account: number | undefined;
  /** Which changes do; messages that come and go by default. */
  types?: ReadonlySet<StateType>;
}

/**
 * Everybody who waits for mail. One read of an account's states after a commit serves all who wait for it. When all places
 * are taken an organization with fewer waits gets one of whoever has the most, so that nobody shuts the others out.
 */
export class Waits implements Disposable {
  readonly cursors: Cursors;
  readonly story: Story;
  readonly #watch: StateWatch;
  readonly #needs: Needs;
  /** By credential. */
  readonly #open = new Map<string, Set<Wait>>();
  /** By organization. */
  readonly #places = new Places<Wait>();
  #stopping = false;
  #looking: NodeJS.Timeout | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#watch = new StateWatch(needs.store, needs.log);
    this.story = new Story(needs.store, needs.log);
    this.cursors = new Cursors(needs.secrets.subkey('wait cursor'));
  }

  get size(): number {
    return this.#places.count;
  }

  /**
   * Begins a wait, to be disposed of; undefined: as many are under way as its credential, or its organization beside the
   * others, may have. What changes from now on wakes it.
   */
  async begin(asked: Asked): Promise<Wait | undefined> {
    return (await this.beginAll([asked]))?.[0];
  }

  /** The same for all that one caller asks at once: nobody gives up a place for some of them when not all can begin. */
  async beginAll(all: readonly Asked[]): Promise<Wait[] | undefined> {
    const [first] = all;
    if (first !== undefined && !this.#makeRoom(first.caller, all.length)) return undefined;
    const entered = all.map((asked) => ({ asked, wait: this.#enter(asked) }));
    using begun = new DisposableStack();
    for (const { wait } of entered) begun.use(wait);
    for (const { asked, wait } of entered) {
      const { account, types = TYPES } = asked;
      const accounts = new Map(account === undefined ? [] : [['', account]]);
      wait.ended(await this.#watch.add({ accounts, types, tell: () => wait.wake('changed') }));
    }
    begun.move();
    return entered.map(({ wait }) => wait);
  }

  /** For how long a stream of a caller may be open, seconds; an access token of OAuth ends before its grant does. */
  longest({ token }: Caller): number {
    const left = (token?.expiresAt ?? Infinity) - this.#needs.clock();
    return Math.max(0, Math.min(LONGEST_SECONDS, left / 1000));
  }

  /** Whether the caller may still be told: its token can have ended while it waited. */
  async holds({ token }: Caller): Promise<boolean> {
    return token === undefined || (await heldToken(this.#needs, token)) !== undefined;
  }

  /** Lets everybody who waits answer now: they come back with their cursor. */
  stop(): void {
    this.#stopping = true;
    for (const own of this.#open.values()) for (const wait of own) wait.wake('stopping');
  }

  [Symbol.dispose](): void {
    this.stop();
    clearInterval(this.#looking);
    this.story[Symbol.dispose]();
    this.#watch[Symbol.dispose]();
  }

  /** Whether there are so many places, be it that other organizations give them up now. */
  #makeRoom(caller: Caller, count: number): boolean {
    const own = this.#open.get(caller.actor)?.size ?? 0;
    const missing = this.size + count - MOST.all;
    if (own + count > MOST.ofOne) return false;
    if (missing > 0 && !this.#places.canYield(tenantOf(caller), count, missing)) return false;
    for (let i = 0; i < missing; i++) this.#displace(tenantOf(caller));
    return true;
  }

  #displace(newcomer: number): void {
    const leaving = this.#places.oldestOfMost(newcomer);
    if (leaving === undefined) return;
    // Its place is free at once: it may be in the middle of a look, or of telling a client that reads slowly.
    this.#end(leaving);
    leaving.wake('displaced');
    this.#needs.metrics.count('waits_displaced_total');
  }

  #enter(asked: Asked): Wait {
    const wait = new Wait(asked, () => this.#end(wait));
    const { caller } = wait;
    const own = this.#open.get(caller.actor) ?? new Set();
    this.#open.set(caller.actor, own.add(wait));
    this.#places.take(tenantOf(caller), wait);
    this.#needs.metrics.gauge('waits_open', this.size);
    this.#looking ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    if (this.#stopping) wait.wake('stopping');
    return wait;
  }

  #end(wait: Wait): void {
    const { caller } = wait;
    if (!this.#places.leave(tenantOf(caller), wait)) return;
    this.#needs.metrics.gauge('waits_open', this.size);
    const own = this.#open.get(caller.actor);
    own?.delete(wait);
    if (own?.size === 0) this.#open.delete(caller.actor);
    if (this.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  async #look(): Promise<void> {
    try {
      for (const own of this.#open.values()) await this.#lookAt(own);
    } catch (error) {
      // The store cannot be asked now: it is asked again before anything is told.
      this.#needs.log.warn({ err: error }, 'tokens of those who wait could not be looked at');
    }
  }

  async #lookAt(own: ReadonlySet<Wait>): Promise<void> {
    const [one] = own;
    if (one?.caller.token === undefined) return;
    const token = await heldToken(this.#needs, one.caller.token);
    for (const wait of own) {
      if (token === undefined) wait.wake('out');
      else wait.inMode(token.mode);
    }
  }
}

/** Who shares the places with whom. */
function tenantOf({ organization = 0 }: Caller): number {
  return organization;
}
