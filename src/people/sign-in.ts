import { ownerAddress } from '../notices/owners.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { rateLimitedLog } from '../../mail/limits/rate-limited-log.ts';
import { isLoopback, networkOf } from '../../mail/guard/network.ts';
import { accountKeyOf, type CountedDecision, type LoginAttempt } from '../../mail/login/throttle.ts';
import type { Log } from '../../mail/log.ts';
import { inNetworks } from '../core/networks.ts';
import type { AppContext } from '../core/app-context.ts';
import { type Account, findAccount } from './password-commands.ts';
import { Passwords } from './password.ts';
import { newSecret } from './secrets.ts';
import type { SignInMethod } from './factor-commands.ts';
import { beginSignIn } from './pending-commands.ts';

export type SignInCheck =
  | { kind: 'right'; account: Account }
  | { kind: 'wrong' }
  /** Too many failures from this address or for this account; in seconds. */
  | { kind: 'throttled'; retryAfter: number }
  /** Too many derivations are queued. */
  | { kind: 'busy' };

type SignInContext = Pick<AppContext, 'store' | 'clock' | 'settings' | 'log' | 'throttle' | 'guard'>;

/**
 * Checks people's passwords, with the same counters as mail logins: ten failures a minute from an address. An account under
 * attack gets slower for others and is never locked for its owner.
 */
export class SignIn {
  readonly passwords = new Passwords();
  readonly #world: SignInContext;
  readonly #log: Log;

  constructor(world: SignInContext) {
    this.#world = world;
    this.#log = rateLimitedLog(world.log);
  }

  /** Checks a password for an address. Unknown addresses get the same answer in the same time as known ones. */
  async check(email: string, password: string, ip: string): Promise<SignInCheck> {
    const key = ownerAddress(email)?.key;
    const account = key === undefined ? undefined : await this.#world.store.read(findAccount, { key });
    const checked = await this.#guess(key, account?.password ?? null, password, ip);
    this.#log.info({ ip, user: account?.user ?? null, outcome: checked }, 'sign-in');
    if (checked === 'right') this.#world.guard.welcome(ip);
    else if (checked !== 'busy' && !this.#isHeldAtHome(checked, key, ip)) this.#world.guard.addOffence(ip, 'logins');
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
  ): Promise<'right' | 'wrong' | 'busy' | (SignInCheck & { kind: 'throttled' })> {
    const attempt = attemptOf(key, ip);
    const { throttle, clock } = this.#world;
    const admission = this.#free(ip) ? undefined : throttle.admit(attempt, clock());
    if (admission?.kind === 'throttled') return admission;
    if (admission !== undefined && admission.delay > 0) await sleep(admission.delay, undefined, { ref: false });
    const right = await this.passwords.matches(stored, password);
    if (right !== false) admission?.rollBack();
    if (right === true) throttle.recordSuccess(attempt, clock());
    return right === undefined ? 'busy' : right ? 'right' : 'wrong';
  }

  /** Counts an attempt at a second factor from its network, until it is rolled back; undefined for networks without limits. */
  admitFactor(ip: string): CountedDecision | undefined {
    const { throttle, clock } = this.#world;
    return this.#free(ip) ? undefined : throttle.admit({ network: networkOf(ip), account: undefined }, clock());
  }

  /** Records a wrong second factor: many of them ban the network. */
  recordWrongFactor(ip: string, user: number): void {
    this.#log.info({ ip, user, outcome: 'wrong second factor' }, 'sign-in');
    this.#world.guard.addOffence(ip, 'logins');
  }

  /** Tests for a throttled attempt from a network where the account is known: it is no offense. */
  #isHeldAtHome(checked: string | SignInCheck, key: string | undefined, ip: string): boolean {
    const { throttle, clock } = this.#world;
    return typeof checked !== 'string' && throttle.isKnownNetwork(attemptOf(key, ip), clock());
  }

  /** Not counted: exempt networks, and loopback in local mode. */
  #free(ip: string): boolean {
    const { live, exemptNetworks } = this.#world.settings;
    return (!live && isLoopback(ip)) || inNetworks(ip, exemptNetworks);
  }
}

function attemptOf(key: string | undefined, ip: string): LoginAttempt {
  return { network: networkOf(ip), account: key === undefined ? undefined : accountKeyOf(key) };
}

const LONGEST_AGENT = 200;

/** The browser that signs in. */
export interface Browser {
  ip: string;
  /** User-Agent, by which a person recognizes the session. */
  agent: string;
  /** Hash of the browser's present session. */
  before: Uint8Array | null;
  /** Hash of the secret by which the browser is recognized. */
  device: Uint8Array;
}

/** Starts a session, or for people with a second factor a sign-in that waits for it. Returns the secret for its cookie. */
export async function startSignIn(
  { store }: Pick<AppContext, 'store'>,
  { user, method, next }: { user: number; method: SignInMethod; next: string },
  browser: Browser,
): Promise<{ kind: 'in' | 'step'; secret: string }> {
  const [session, pending] = [newSecret(), newSecret()];
  const { kind } = await store.write(beginSignIn, {
    session: { user, hash: session.hash, method, ...shownBrowser(browser) },
    pending: pending.hash,
    next,
  });
  return { kind, secret: kind === 'in' ? session.secret : pending.secret };
}

/** The browser as it is stored: its User-Agent is a stranger's text. */
export function shownBrowser({ agent, ...browser }: Browser): Browser {
  return { ...browser, agent: agent.replace(/[^\x20-\x7e]/g, '').slice(0, LONGEST_AGENT) };
}
