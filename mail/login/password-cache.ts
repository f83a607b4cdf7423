import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AccountCredentials, Credential } from './needs.ts';
import { RecentMap } from '../guard/recent-map.ts';

const LIFETIME_MS = 10 * 60_000;
const ENTRIES = 10_000;

interface Verified {
  readonly account: number;
  readonly credential: number;
  readonly storedKey: Buffer;
  readonly until: number;
}

/**
 * Remembers for ten minutes which passwords were verified, as a hash under a key that never leaves the process, so
 * that a client which reconnects every few seconds costs no key derivation. Only right passwords are remembered.
 */
export class PasswordCache {
  readonly #key = randomBytes(32).toString('hex');
  readonly #verified = new RecentMap<string, Verified>(ENTRIES);

  get size(): number {
    return this.#verified.size;
  }

  /** The credential that this password was verified against, when the account still has it unchanged. */
  find(found: AccountCredentials, password: string, now: number): Credential | undefined {
    const verified = this.#verified.get(this.#mac(found.account, password));
    if (!verified || verified.until <= now) return undefined;
    // Compared with what is stored now: after a rotation the entry is worthless even if nobody told us to drop it.
    return found.credentials.find(
      (one) => one.id === verified.credential && timingSafeEqual(one.storedKey, verified.storedKey),
    );
  }

  add(account: number, credential: Credential, password: string, now: number): void {
    this.#verified.purge((one) => one.until <= now);
    const { id, storedKey } = credential;
    this.#verified.set(this.#mac(account, password), { account, credential: id, storedKey, until: now + LIFETIME_MS });
  }

  drop(account: number): void {
    this.#verified.drop((one) => one.account === account);
  }

  #mac(account: number, password: string): string {
    // Nobody sees what comes out, so nobody can lengthen it; an HMAC costs ten times as much, at each request of JMAP.
    return hash('sha256', `${this.#key}\0${account}\0${password}`, 'base64');
  }
}
