import type { Log } from '../../log.ts';
import type { Store } from '../../store/engine/types.ts';
import { jmapStates, STATE_TYPES, type StateType } from '../../store/type-state.ts';
import { formatState } from '../state.ts';

/** Changes that follow one another closely are told as one. */
const COALESCE_MS = 30;

/** What a client is told. RFC 8620 7.1. */
export interface StateChange {
  '@type': 'StateChange';
  changed: Record<string, Partial<Record<StateType, string>>>;
}

export interface Watcher {
  /** Accounts by the ids that the client knows. */
  readonly accounts: ReadonlyMap<string, number>;
  /** Null: all. */
  readonly types: ReadonlySet<StateType> | null;
  tell(change: StateChange): void;
}

type States = Record<StateType, number>;

/** Those who are told of changes, by account: one read of an account's states serves them all. */
export class StateWatch implements Disposable {
  readonly #store: Store;
  readonly #log: Log;
  readonly #watched = new Map<number, { watchers: Set<Watcher>; told: States | undefined; timer?: NodeJS.Timeout }>();
  readonly #end: () => void;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#end = store.onWakeUp(({ account }) => this.#woken(account));
  }

  /** Tells of what changes from now on. Answers the function that ends it. */
  async add(watcher: Watcher): Promise<() => void> {
    const accounts = [...watcher.accounts.values()];
    for (const account of accounts) {
      const known = this.#watched.get(account);
      if (known !== undefined) known.watchers.add(watcher);
      else this.#watched.set(account, { watchers: new Set([watcher]), told: undefined });
    }
    // Before the caller goes on: what changes after this is told.
    const stop = (): void => {
      for (const account of accounts) this.#remove(account, watcher);
    };
    try {
      await Promise.all(accounts.map((account) => this.#begin(account)));
      return stop;
    } catch (error) {
      stop();
      throw error;
    }
  }

  /** The states of these accounts now, by the ids that the client knows. */
  async states(accounts: ReadonlyMap<string, number>): Promise<Map<string, States>> {
    const all = [...accounts].map(
      async ([id, account]) => [id, await this.#store.read(jmapStates, { account })] as const,
    );
    return new Map(await Promise.all(all));
  }

  [Symbol.dispose](): void {
    this.#end();
    for (const { timer } of this.#watched.values()) clearTimeout(timer);
    this.#watched.clear();
  }

  async #begin(account: number): Promise<void> {
    const states = await this.#store.read(jmapStates, { account });
    const watched = this.#watched.get(account);
    if (watched !== undefined) watched.told ??= states;
  }

  #remove(account: number, watcher: Watcher): void {
    const watched = this.#watched.get(account);
    watched?.watchers.delete(watcher);
    if (watched === undefined || watched.watchers.size > 0) return;
    clearTimeout(watched.timer);
    this.#watched.delete(account);
  }

  #woken(account: number): void {
    const watched = this.#watched.get(account);
    if (watched === undefined || watched.timer !== undefined) return;
    watched.timer = setTimeout(() => {
      delete watched.timer;
      this.#look(account).catch((error: unknown) =>
        this.#log.error({ err: error, account }, 'states could not be read'),
      );
    }, COALESCE_MS);
  }

  async #look(account: number): Promise<void> {
    const states = await this.#store.read(jmapStates, { account });
    const watched = this.#watched.get(account);
    if (watched?.told === undefined) return;
    const before = watched.told;
    watched.told = states;
    const changed = STATE_TYPES.filter((type) => states[type] !== before[type]);
    if (changed.length === 0) return;
    for (const watcher of watched.watchers) tell(watcher, account, changed, states);
  }
}

function tell(watcher: Watcher, account: number, changed: readonly StateType[], states: States): void {
  const types = changed.filter((type) => watcher.types?.has(type) ?? true);
  const id = [...watcher.accounts].find(([, one]) => one === account)?.[0];
  if (types.length > 0 && id !== undefined) watcher.tell(stateChange({ [id]: pickStates(types, states) }));
}

function pickStates(types: readonly StateType[], states: States): Partial<Record<StateType, string>> {
  return Object.fromEntries(types.map((type) => [type, formatState(states[type])]));
}

export function stateChange(changed: StateChange['changed']): StateChange {
  return { '@type': 'StateChange', changed };
}

/** What changed in each account since the mod-sequence that a client last heard of; undefined: nothing. */
export function changedSince(
  states: ReadonlyMap<string, States>,
  since: ReadonlyMap<string, number>,
  types: ReadonlySet<StateType> | null,
): StateChange | undefined {
  const changed = [...states].flatMap(([id, now]) => {
    const from = since.get(id) ?? Number.POSITIVE_INFINITY;
    const newer = STATE_TYPES.filter((type) => (types?.has(type) ?? true) && now[type] > from);
    return newer.length === 0 ? [] : [[id, pickStates(newer, now)] as const];
  });
  return changed.length === 0 ? undefined : stateChange(Object.fromEntries(changed));
}
