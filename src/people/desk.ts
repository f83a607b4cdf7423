import { setTimeout as sleep } from 'node:timers/promises';
import { calmLog } from '../../mail/guard/calm-log.ts';
import { isLoopback, networkOf } from '../../mail/guard/network.ts';
import { accountKeyOf, type Attempt } from '../../mail/login/throttle.ts';
import type { Log } from '../../mail/log.ts';
import { ownerAddress } from '../bootstrap/claim-letter.ts';
import { inNetworks } from '../networks.ts';
import type { World } from '../operations/world.ts';
import { type Account, findAccount } from './password-commands.ts';
import { Passwords } from './password.ts';

export type Checked =
  | { kind: 'right'; account: Account }
  | { kind: 'wrong' }
  /** Too many failures from this address or for this account; in seconds. */
  | { kind: 'throttled'; retryAfter: number }
  /** Too many derivations wait. */
  | { kind: 'busy' };

type DeskWorld = Pick<World, 'store' | 'clock' | 'settings' | 'log' | 'throttle' | 'guard'>;

/**
 * The one place where people's passwords are checked, on the same counters as mail logins: ten failures a minute from an
 * address, an account under attack gets slower for others and is never locked for its owner.
 */
export class PeopleDesk {
  readonly passwords = new Passwords();
  readonly #world: DeskWorld;
  readonly #log: Log;

  constructor(world: DeskWorld) {
    this.#world = world;
    this.#log = calmLog(world.log);
  }

  /** Checks a password for an address. Unknown addresses cost and answer what known ones do. */
  async check(email: string, password: string, ip: string): Promise<Checked> {
    const key = ownerAddress(email)?.key;
    const account = key === undefined ? undefined : await this.#world.store.read(findAccount, { key });
    const checked = await this.#guess(key, account?.password ?? null, password, ip);
    this.#log.info({ ip, user: account?.user ?? null, outcome: checked }, 'sign-in');
    if (checked === 'right') this.#world.guard.welcome(ip);
    else if (checked !== 'busy' && !this.#isHeldAtHome(checked, key, ip)) this.#world.guard.offended(ip, 'logins');
    if (typeof checked !== 'string') return checked;
    return checked === 'right' && account !== undefined
      ? { kind: 'right', account }
      : { kind: checked === 'busy' ? 'busy' : 'wrong' };
  }

  async #guess(
    key: string | undefined,
    stored: string | null,
    password: string,
    ip: string,
  ): Promise<'right' | 'wrong' | 'busy' | (Checked & { kind: 'throttled' })> {
    const attempt = attemptOf(key, ip);
    const { throttle, clock } = this.#world;
    const admission = this.#free(ip) ? undefined : throttle.admit(attempt, clock());
    if (admission?.kind === 'throttled') return admission;
    if (admission !== undefined && admission.delay > 0) await sleep(admission.delay, undefined, { ref: false });
    const right = await this.passwords.matches(stored, password);
    if (right !== false) admission?.forgive();
    if (right === true) throttle.proved(attempt, clock());
    return right === undefined ? 'busy' : right ? 'right' : 'wrong';
  }

  /** Told to wait where the account is known: that is enough. */
  #isHeldAtHome(checked: string | Checked, key: string | undefined, ip: string): boolean {
    const { throttle, clock } = this.#world;
    return typeof checked !== 'string' && throttle.isAtHome(attemptOf(key, ip), clock());
  }

  /** Not counted: exempt networks, and in local mode this machine. */
  #free(ip: string): boolean {
    const { live, exemptNetworks } = this.#world.settings;
    return (!live && isLoopback(ip)) || inNetworks(ip, exemptNetworks);
  }
}

function attemptOf(key: string | undefined, ip: string): Attempt {
  return { network: networkOf(ip), account: key === undefined ? undefined : accountKeyOf(key) };
}
