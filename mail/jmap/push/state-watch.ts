import type { Log } from '../../log.ts';
import { jmapStates, STATE_TYPES, type StateType } from '../../store/account/type-state.ts';
import type { Store } from '../../store/engine/types.ts';
import { formatState } from '../standard/standard-changes.ts';

/** Delay in which changes are combined into one notification. */
export const COALESCE_MS = 30;

/** The StateChange object. RFC 8620 7.1. */
export interface StateChange {
  '@type': 'StateChange';
  changed: Record<string, Partial<Record<StateType, string>>>;
}

interface StateWatcher {
  /** Accounts by public id. */
  readonly accounts: ReadonlyMap<string, number>;
  /** Null for all types. */
  readonly types: ReadonlySet<StateType> | null;
  notify(change: StateChange): void;
}

type States = Record<StateType, number>;

/** Notifies watchers of changes, by account; one read of an account's states serves all its watchers. */
export class StateWatch implements Disposable {
  readonly #store: Store;
  readonly #log: Log;
  readonly #watched = new Map<
    number,
    { watchers: Set<StateWatcher>; reported: States | undefined; timer?: NodeJS.Timeout }
  >();
  readonly #end: () => void;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#end = store.onWakeUp(({ account }) => this.#onWakeUp(account));
  }

  /** Adds a watcher for changes from now on. Returns the function that removes it. */
  async add(watcher: StateWatcher): Promise<() => void> {
    const accounts = [...watcher.accounts.values()];
    for (const account of accounts) {
      const known = this.#watched.get(account);
      if (known !== undefined) known.watchers.add(watcher);
      else this.#watched.set(account, { watchers: new Set([watcher]), reported: undefined });
    }
    // Registered before the states are read, so that no change is missed.
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

  /** Reads the current states of accounts, by public id. */
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
    if (watched !== undefined) watched.reported ??= states;
  }

  #remove(account: number, watcher: StateWatcher): void {
    const watched = this.#watched.get(account);
    watched?.watchers.delete(watcher);
    if (watched === undefined || watched.watchers.size > 0) return;
    clearTimeout(watched.timer);
    this.#watched.delete(account);
  }

  #onWakeUp(account: number): void {
    const watched = this.#watched.get(account);
    if (watched === undefined || watched.timer !== undefined) return;
    watched.timer = setTimeout(() => {
      delete watched.timer;
      this.#compareStates(account).catch((error: unknown) =>
        this.#log.error({ err: error, account }, 'failed to read JMAP states'),
      );
    }, COALESCE_MS);
  }

  async #compareStates(account: number): Promise<void> {
    const states = await this.#store.read(jmapStates, { account });
    const watched = this.#watched.get(account);
    if (watched?.reported === undefined) return;
    const before = watched.reported;
    watched.reported = states;
    const changed = STATE_TYPES.filter((type) => states[type] !== before[type]);
    if (changed.length === 0) return;
    for (const watcher of watched.watchers) notifyWatcher(watcher, account, changed, states);
  }
}

function notifyWatcher(watcher: StateWatcher, account: number, changed: readonly StateType[], states: States): void {
  const types = changed.filter((type) => watcher.types?.has(type) ?? true);
  const id = [...watcher.accounts].find(([, one]) => one === account)?.[0];
  if (types.length > 0 && id !== undefined) watcher.notify(stateChange({ [id]: pickStates(types, states) }));
}

function pickStates(types: readonly StateType[], states: States): Partial<Record<StateType, string>> {
  return Object.fromEntries(types.map((type) => [type, formatState(states[type])]));
}

export function stateChange(changed: StateChange['changed']): StateChange {
  return { '@type': 'StateChange', changed };
}

/** The changes since the mod-sequence in a client's position; undefined for none. */
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

/** Maximum accounts in a position, which has to fit into a header line. */
const MAX_ACCOUNTS = 50;

/**
 * Formats a push position: the newest mod-sequence of each account. The client sends it back as Last-Event-ID or
 * pushState, and gets newer changes at once. Undefined for too many accounts.
 */
export function pushPosition(states: ReadonlyMap<string, Readonly<Record<StateType, number>>>): string | undefined {
  if (states.size > MAX_ACCOUNTS) return undefined;
  return [...states].map(([id, now]) => `${id}:${Math.max(...Object.values(now)).toString(36)}`).join(',');
}

/** Parses a position of {@link pushPosition}; undefined if invalid. */
export function readPosition(text: string): Map<string, number> | undefined {
  if (!/^(?:[\w-]{1,40}:[0-9a-z]{1,11})(?:,[\w-]{1,40}:[0-9a-z]{1,11}){0,49}$/.test(text)) return undefined;
  return new Map(
    text.split(',').map((one) => {
      const [id = '', modseq = ''] = one.split(':');
      return [id, Number.parseInt(modseq, 36)];
    }),
  );
}
