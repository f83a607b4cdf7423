import { lruMap } from '../limits/lru-map.ts';
import type { Login } from './types.ts';

/** A revocation of one credential, or of all credentials of an account. */
export interface Revocation {
  readonly account: number;
  /** The rotated or revoked credential; left out: all of the account. */
  readonly credential?: number;
}

interface SessionWatch {
  readonly credential: number;
  readonly end: () => void;
}

/** Ends the sessions of revoked credentials, also of logins that were in progress. */
export class Revocations {
  readonly #watches = new Map<number, Set<SessionWatch>>();
  readonly #generations = new WeakMap<Login, number>();
  /** The last 100 revocations of an account with their generation, of at most 10,000 accounts. */
  readonly #past = lruMap<number, Array<{ revoked: Revocation; generation: number }>>(10_000);
  #generation = 0;

  /** Grows with every revocation: credentials read at another generation must be read again. */
  get generation(): number {
    return this.#generation;
  }

  /** Records the generation at which a login's credentials were read. */
  recordLogin(login: Login, generation: number): Login {
    this.#generations.set(login, generation);
    return login;
  }

  /** Calls `end` once when the login is revoked, or soon if it already was. Returns a function that stops watching. */
  watch(login: Login, end: () => void): () => void {
    if (this.#isPast(login)) {
      queueMicrotask(end);
      return () => {};
    }
    const watch = { credential: login.credential, end };
    const watches = this.#watches.get(login.account) ?? new Set();
    this.#watches.set(login.account, watches.add(watch));
    return () => {
      watches.delete(watch);
      if (watches.size === 0 && this.#watches.get(login.account) === watches) this.#watches.delete(login.account);
    };
  }

  revoke(revoked: Revocation): void {
    this.#generation += 1;
    const past = [...(this.#past.get(revoked.account) ?? []), { revoked, generation: this.#generation }];
    this.#past.set(revoked.account, past.slice(-100));
    const watches = this.#watches.get(revoked.account) ?? new Set();
    for (const watch of [...watches].filter((one) => covers(revoked, one.credential))) {
      watches.delete(watch);
      watch.end();
    }
    if (watches.size === 0) this.#watches.delete(revoked.account);
  }

  #isPast(login: Login): boolean {
    const own = this.#generations.get(login) ?? 0;
    const past = this.#past.get(login.account) ?? [];
    return past.some(({ revoked, generation }) => generation > own && covers(revoked, login.credential));
  }
}

function covers(revoked: Revocation, credential: number): boolean {
  return revoked.credential === undefined || revoked.credential === credential;
}
