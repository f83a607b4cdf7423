import { StateWatch } from '../../mail/jmap/push/watch.ts';
import type { Log, Meter } from '../../mail/log.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import type { StateType } from '../../mail/store/type-state.ts';
import type { Caller } from '../operations/caller.ts';
import { heldToken } from '../tokens/holds.ts';
import { Cursors } from './cursor.ts';
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

/** Everybody who waits for mail. One read of an account's states after a commit serves all who wait for it. */
export class Waits implements Disposable {
  readonly cursors: Cursors;
  readonly story: Story;
  readonly #watch: StateWatch;
  readonly #needs: Needs;
  readonly #open = new Map<string, Set<Wait>>();
  #count = 0;
  #stopping = false;
  #looking: NodeJS.Timeout | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#watch = new StateWatch(needs.store, needs.log);
    this.story = new Story(needs.store, needs.log);
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
