import { RecentMap } from '../guard/recent-map.ts';
import type { Login } from './types.ts';

/** What was revoked: one credential of an account, or all of them. */
export interface Revoked {
  readonly account: number;
  /** The credential rotated or revoked; left out when the whole account may no longer be logged in. */
  readonly credential?: number;
}

interface Watch {
  readonly credential: number;
  readonly end: () => void;
}

/** Ends the sessions of revoked credentials, also of those that were just logging in when it happened. */
export class Revocations {
  readonly #watches = new Map<number, Set<Watch>>();
  readonly #births = new WeakMap<Login, number>();
  /** Account -> what was revoked of it, and when. */
  readonly #past = new RecentMap<number, Array<{ revoked: Revoked; age: number }>>(10_000);
  #age = 0;

  /** Grows with every revocation: who has read credentials at one age must read them again at another. */
  get age(): number {
    return this.#age;
  }

  /** Notes that a login was made from credentials read at `age`. */
  born(login: Login, age: number): Login {
    this.#births.set(login, age);
    return login;
  }

  /** Calls `end` once when the login is revoked, soon when it already was. The answer stops watching. */
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

  revoke(revoked: Revoked): void {
    this.#age += 1;
    const past = [...(this.#past.get(revoked.account) ?? []), { revoked, age: this.#age }];
    this.#past.set(revoked.account, past.slice(-100));
    const watches = this.#watches.get(revoked.account) ?? new Set();
    for (const watch of [...watches].filter((one) => covers(revoked, one.credential))) {
      watches.delete(watch);
      watch.end();
    }
    if (watches.size === 0) this.#watches.delete(revoked.account);
  }

  #isPast(login: Login): boolean {
    const birth = this.#births.get(login) ?? 0;
    const past = this.#past.get(login.account) ?? [];
    return past.some(({ revoked, age }) => age > birth && covers(revoked, login.credential));
  }
}

function covers(revoked: Revoked, credential: number): boolean {
  return revoked.credential === undefined || revoked.credential === credential;
}
