import type { Log } from '../../log.ts';
import type { StateType } from '../../store/account/type-state.ts';
import type { Store } from '../../store/engine/types.ts';
import type { SharingLogin } from '../../store/mailbox/acl.ts';
import {
  type SharedAccount,
  sharedAccounts,
  sharedEmailState,
  sharedMailboxState,
} from '../../store/mailbox/shared-account.ts';
import { accountId } from '../core/ids.ts';
import { COALESCE_MS, type StateChange, stateChange } from './state-watch.ts';

interface SharedWatcher {
  readonly login: SharingLogin;
  /** Null for all types. */
  readonly types: ReadonlySet<StateType> | null;
  notify(change: StateChange): void;
}

type States = StateChange['changed'];

/** Notifies of changes in the mailboxes that are shared with a login, and of nothing else in those accounts. */
export class SharedStateWatch {
  readonly #store: Store;
  readonly #log: Log;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** The present states of all shared accounts; undefined: nothing is shared. */
  async states({ login, types }: Pick<SharedWatcher, 'login' | 'types'>): Promise<StateChange | undefined> {
    return asChange(statesOf(await this.#store.read(sharedAccounts, login), types));
  }

  /** Adds a watcher for changes from now on. Returns the function that removes it. */
  async add(watcher: SharedWatcher): Promise<() => void> {
    const { login, types } = watcher;
    const watched = new Set([login.account]);
    let reported: States | undefined;
    let timer: NodeJS.Timeout | undefined;
    const compare = async (): Promise<void> => {
      const accounts = await this.#store.read(sharedAccounts, login);
      for (const { owner } of accounts) watched.add(owner);
      const states = statesOf(accounts, types);
      const change = reported === undefined ? undefined : asChange(newer(states, reported));
      reported = states;
      if (change !== undefined && !stopped) watcher.notify(change);
    };
    let stopped = false;
    // Registered before the states are read, so that no change is missed.
    const unwatch = this.#store.onWakeUp(({ account }) => {
      if (!watched.has(account) || timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        compare().catch((error: unknown) => this.#log.error({ err: error }, 'failed to read shared JMAP states'));
      }, COALESCE_MS);
    });
    const stop = (): void => {
      stopped = true;
      clearTimeout(timer);
      unwatch();
    };
    await compare().catch((error: unknown) => {
      stop();
      throw error;
    });
    return stop;
  }
}

function statesOf(accounts: readonly SharedAccount[], types: ReadonlySet<StateType> | null): States {
  const isWanted = ([type]: readonly [StateType, string]): boolean => types?.has(type) ?? true;
  return Object.fromEntries(
    accounts.map((account) => {
      const email = sharedEmailState(account);
      const states = [
        ['Mailbox', sharedMailboxState(account)],
        ['Thread', email],
        ['Email', email],
      ] as const;
      return [accountId(account.owner), Object.fromEntries(states.filter(isWanted))];
    }),
  );
}

/** The states that differ from those that were reported. */
function newer(states: States, reported: States): States {
  const all = Object.entries(states).map(([id, types]) => {
    const known = reported[id];
    const changed = Object.entries(types).filter(([type, state]) => known?.[type as StateType] !== state);
    return [id, Object.fromEntries(changed)] as const;
  });
  return Object.fromEntries(all.filter(([, types]) => Object.keys(types).length > 0));
}

function asChange(states: States): StateChange | undefined {
  return Object.keys(states).length === 0 ? undefined : stateChange(states);
}
