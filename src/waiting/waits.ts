import { StateWatch } from '../../mail/jmap/push/watch.ts';
import type { Log, Meter } from '../../mail/log.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import type { StateType } from '../../mail/store/type-state.ts';
import type { Audience } from '../operations/operation.ts';
import type { Caller } from '../operations/caller.ts';
import { tokenHolds } from '../tokens/holds.ts';
import { Cursors } from './cursor.ts';

/** Waits that are under way at once: of one credential, and in all. */
const MOST = { ofOne: 100, all: 2_000 };
/** How often the tokens of those who wait are looked at again. */
const LOOK_MS = 5_000;
const PROGRESS_MS = 10_000;
/** Of messages that come, and of messages that change their place. */
const TYPES: ReadonlySet<StateType> = new Set(['EmailDelivery', 'Mailbox']);

/** Why a wait goes on: something changed, the time is over, nobody waits any more, the token ended, the server stops. */
export type Woken = 'changed' | 'time' | 'gone' | 'out' | 'stopping';

interface Needs {
  store: MailStore;
  log: Log;
  metrics: Meter;
  secrets: SecretBox;
  clock: () => number;
}

interface Asked {
  /** Whose changes wake it; undefined: nobody's. */
  account: number | undefined;
  /** Which changes do; messages that come and go by default. */
  types?: ReadonlySet<StateType>;
  caller: Caller;
  seconds: number;
  audience: Audience | undefined;
}

/** Everybody who waits for mail. One read of an account's states after a commit serves all who wait for it. */
export class Waits implements Disposable {
  readonly cursors: Cursors;
  readonly #watch: StateWatch;
  readonly #needs: Needs;
  readonly #open = new Map<string, Set<Wait>>();
  #count = 0;
  #stopping = false;
  #looking: NodeJS.Timeout | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#watch = new StateWatch(needs.store, needs.log);
    this.cursors = new Cursors(needs.secrets.subkey('wait cursor'));
  }

  get size(): number {
    return this.#count;
  }

  /** Begins a wait, to be disposed of; undefined: too many are under way. What changes from now on wakes it. */
  async begin(asked: Asked): Promise<Wait | undefined> {
    const who = asked.caller.actor;
    const own = this.#open.get(who) ?? new Set();
    if (own.size >= MOST.ofOne || this.#count >= MOST.all) return undefined;
    const wait = new Wait(asked, () => this.#end(who, wait));
    this.#open.set(who, own.add(wait));
    this.#counted(1);
    this.#looking ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    if (this.#stopping) wait.wake('stopping');
    try {
      const { account, types = TYPES } = asked;
      const accounts = new Map(account === undefined ? [] : [['', account]]);
      wait.ended(await this.#watch.add({ accounts, types, tell: () => wait.wake('changed') }));
      return wait;
    } catch (error) {
      wait[Symbol.dispose]();
      throw error;
    }
  }

  /** Whether the caller may still be told: its token can have ended while it waited. */
  holds({ token }: Caller): Promise<boolean> {
    return token === undefined ? Promise.resolve(true) : tokenHolds(this.#needs, token.id);
  }

  /** Lets everybody who waits answer now: they come back with their cursor. */
  stop(): void {
    this.#stopping = true;
    for (const own of this.#open.values()) for (const wait of own) wait.wake('stopping');
  }

  [Symbol.dispose](): void {
    this.stop();
    clearInterval(this.#looking);
    this.#watch[Symbol.dispose]();
  }

  #end(who: string, wait: Wait): void {
    const own = this.#open.get(who);
    if (own?.delete(wait) !== true) return;
    this.#counted(-1);
    if (own.size === 0) this.#open.delete(who);
    if (this.#count > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  #counted(by: 1 | -1): void {
    this.#count += by;
    this.#needs.metrics.gauge('waits_open', this.#count);
  }

  async #look(): Promise<void> {
    try {
      for (const own of this.#open.values()) {
        const [one] = own;
        if (one !== undefined && !(await this.holds(one.caller))) for (const wait of own) wait.wake('out');
      }
    } catch (error) {
      // The store cannot be asked now: it is asked again before anything is told.
      this.#needs.log.warn({ err: error }, 'tokens of those who wait could not be looked at');
    }
  }
}

/** One caller who waits for one mailbox. */
export class Wait implements Disposable {
  readonly caller: Caller;
  readonly #ends: (() => void)[] = [];
  #woken: Woken | undefined;
  #tell: ((woken: Woken) => void) | undefined;

  constructor({ caller, seconds, audience }: Asked, leave: () => void) {
    this.caller = caller;
    this.#ends.push(leave);
    const over = setTimeout(() => this.wake('time'), seconds * 1000);
    this.#ends.push(() => clearTimeout(over));
    if (audience !== undefined) this.#attend(audience, seconds);
  }

  /** Resolves with what happened since the last time that this was asked. All but a change is for good. */
  next(): Promise<Woken> {
    const woken = this.#woken;
    if (woken === 'changed') this.#woken = undefined;
    if (woken !== undefined) return Promise.resolve(woken);
    return new Promise((resolve) => {
      this.#tell = resolve;
    });
  }

  wake(woken: Woken): void {
    if (this.#woken !== undefined && this.#woken !== 'changed') return;
    const tell = this.#tell;
    this.#tell = undefined;
    if (tell === undefined || woken !== 'changed') this.#woken = woken;
    tell?.(woken);
  }

  /** Adds something to do at the end. */
  ended(end: () => void): void {
    this.#ends.push(end);
  }

  [Symbol.dispose](): void {
    for (const end of this.#ends.splice(0)) end();
  }

  #attend({ signal, progress }: Audience, seconds: number): void {
    const gone = (): void => this.wake('gone');
    if (signal.aborted) gone();
    signal.addEventListener('abort', gone, { once: true });
    this.#ends.push(() => signal.removeEventListener('abort', gone));
    if (progress === undefined) return;
    const began = performance.now();
    const say = (): void => progress(Math.min(seconds, Math.round((performance.now() - began) / 1000)), seconds);
    say();
    const beat = setInterval(say, PROGRESS_MS);
    this.#ends.push(() => clearInterval(beat));
  }
}
