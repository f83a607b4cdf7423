import { timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { calmLog } from '../guard/calm-log.ts';
import { isLoopback } from '../guard/network.ts';
import { RecentMap } from '../guard/recent-map.ts';
import type { Gate } from '../guard/types.ts';
import type { Log, Meter } from '../log.ts';
import { attemptOf, Claims, isSelf, userKey } from './claims.ts';
import type { Claim } from './claims.ts';
import { Expiries } from './expiries.ts';
import type { Credential, CredentialSource } from './needs.ts';
import { PasswordCache } from './password-cache.ts';
import { preparePassword } from './prepare.ts';
import { Revocations } from './revocations.ts';
import type { Revoked } from './revocations.ts';
import { MECHANISMS } from './sasl.ts';
import type { Judge, ScramChallenge } from './sasl.ts';
import { provenKey, serverFinal } from './scram.ts';
import type { Throttle } from './throttle.ts';
import type { Login, LoginOutcome, Logins, Peer } from './types.ts';
import { DerivationGate, saltedPassword, verifierOf } from './verifier.ts';
import type { Derivation, Verifier } from './verifier.ts';

/** Every failure is answered this late, in ms. */
const FAILURE_DELAY = 2000;
const MINUTE_MS = 60_000;

export interface LoginOptions {
  credentials: CredentialSource;
  throttle: Throttle;
  /** Is told of failures and successes. */
  guard: Pick<Gate, 'offended' | 'welcome'>;
  /** Milliseconds UTC. */
  clock: () => number;
  /** Resolves after some ms. */
  wait?: (ms: number) => Promise<void>;
  /** 32 octets that stay the same over restarts: they make the salts of users that do not exist. */
  secret: Buffer;
  /** Local mode: loopback clients are neither counted nor delayed. */
  local: boolean;
  /** Networks that are neither counted nor delayed. */
  exempt(ip: string): boolean;
  log: Log;
  meter: Meter;
  /** SASL mechanisms to offer, strongest first; all when left out. */
  mechanisms?: readonly string[];
  /** Why a password that is right opens nothing now; undefined: it does. */
  barred?: (password: Pick<Login, 'account' | 'credential'>) => Promise<string | undefined>;
  /** PBKDF2, unless a test counts its calls. */
  derive?: Derivation;
  gate?: DerivationGate;
}

/** All doors share one, or their counters would each give a guesser another try. */
export interface LoginDesk extends Logins {
  /** Ends the sessions of a rotated or revoked credential, or of all credentials of an account. Call it after the commit. */
  revoked(what: Revoked): void;
}

/** A credential that was shown to be held, or what became of the attempt instead. */
type Checked = { kind: 'match'; claim: Claim; credential: Credential } | LoginOutcome;

/** Among the scopes of a credential. */
const READ_ONLY = 'read-only';
const WRONG: LoginOutcome = { kind: 'wrong' };
const BUSY: LoginOutcome = { kind: 'busy' };

/** Makes the one place where logins are decided. */
export function createLogins(options: LoginOptions): LoginDesk {
  return new Desk(options);
}

class Desk implements LoginDesk {
  readonly #options: LoginOptions;
  readonly #cache = new PasswordCache();
  readonly #gate: DerivationGate;
  readonly #revocations = new Revocations();
  readonly #expiries: Expiries;
  readonly #claims: Claims;
  readonly #mechanisms: readonly string[];
  readonly #log: Log;
  /** When a login of a credential by JMAP was logged last, ms UTC. */
  readonly #toldAt = new RecentMap<number, number>(10_000);

  constructor(options: LoginOptions) {
    this.#options = options;
    this.#gate = options.gate ?? new DerivationGate();
    this.#expiries = new Expiries(options.clock);
    this.#claims = new Claims(options.credentials, options.secret, options.clock, this.#revocations);
    this.#log = calmLog(options.log);
    this.#mechanisms = options.mechanisms ?? Object.keys(MECHANISMS);
  }

  mechanisms(peer: Peer): readonly string[] {
    return peer.secure ? this.#mechanisms : [];
  }

  start(mechanism: string, peer: Peer): ReturnType<Logins['start']> {
    const name = mechanism.toUpperCase();
    if (!this.mechanisms(peer).includes(name)) return undefined;
    return MECHANISMS[name]?.(this.#judge(name, peer));
  }

  async password(user: string, password: string, peer: Peer): Promise<LoginOutcome> {
    if (!peer.secure) return { kind: 'malformed', why: 'passwords are taken on encrypted connections only' };
    return this.#judge('password', peer).password(user, password, undefined);
  }

  onRevoked: Logins['onRevoked'] = (login, end) => {
    const unwatch = this.#revocations.watch(login, end);
    if (login.expiresAt === undefined) return unwatch;
    const unwait = this.#expiries.add(login.expiresAt, end);
    return () => {
      unwatch();
      unwait();
    };
  };

  revoked(what: Revoked): void {
    this.#cache.drop(what.account);
    this.#revocations.revoke(what);
  }

  #judge(mechanism: string, peer: Peer): Judge {
    return {
      password: (user, password, authzid) =>
        this.#attempt(mechanism, peer, user, () => this.#checkPassword(peer, user, password, authzid)),
      challenge: (user) => this.#challenge(mechanism, peer, user),
    };
  }

  /** One attempt from admission to answer: delayed, logged and counted the same whatever came of it. */
  async #attempt(mechanism: string, peer: Peer, user: string, check: () => Promise<Checked>): Promise<LoginOutcome> {
    const outcome = await this.#decide(peer, user, check).catch((error: unknown) => this.#failed(error, peer));
    this.#tell(outcome, mechanism, peer, user);
    this.#options.meter.count('login_attempts_total', { door: peer.door, mechanism, outcome: outcome.kind });
    if (outcome.kind === 'wrong' && !this.#free(peer)) await this.#wait(FAILURE_DELAY);
    return outcome;
  }

  #tell(outcome: LoginOutcome, mechanism: string, peer: Peer, user: string): void {
    const { guard } = this.#options;
    if (outcome.kind === 'in') guard.welcome(peer.ip);
    if (this.#offends(outcome, peer, user)) guard.offended(peer.ip, 'logins');
    if (peer.door === 'jmap' && outcome.kind === 'in' && this.#isTold(outcome.login.credential)) return;
    const fields = { ip: peer.ip, door: peer.door, mechanism, user: userKey(user), outcome: outcome.kind };
    this.#log.info(fields, 'login');
  }

  // A phone with an old password tries all day. Where its account is known it is told to wait, and that is enough: a ban
  // would shut out everybody around it.
  #offends(outcome: LoginOutcome, peer: Peer, user: string): boolean {
    if (outcome.kind !== 'throttled') return outcome.kind === 'wrong';
    return !this.#options.throttle.isAtHome(attemptOf(peer, user), this.#options.clock());
  }

  /** Each request of JMAP is a login: a line a minute says as much. */
  #isTold(credential: number): boolean {
    const now = this.#options.clock();
    const last = this.#toldAt.get(credential);
    if (last !== undefined && now >= last && now - last < MINUTE_MS) return true;
    this.#toldAt.set(credential, now);
    return false;
  }

  async #decide(peer: Peer, user: string, check: () => Promise<Checked>): Promise<LoginOutcome> {
    return (await this.#held(peer, user)) ?? (await this.#conclude(await check()));
  }

  async #conclude(checked: Checked): Promise<LoginOutcome> {
    if (checked.kind !== 'match') return checked;
    const { claim, credential } = checked;
    if (!claim.known) return WRONG;
    const why = await this.#options.barred?.({ account: claim.known.account, credential: credential.id });
    if (why !== undefined) return { kind: 'barred', why };
    const { account, address } = claim.known;
    const { credentials, throttle, clock } = this.#options;
    credentials.used(credential.id, clock());
    throttle.proved(claim.attempt, clock());
    const readOnly = credential.scopes.includes(READ_ONLY);
    const { id, expiresAt } = credential;
    const login = {
      account,
      address,
      credential: id,
      ...(readOnly && { readOnly }),
      ...(expiresAt !== null && { expiresAt }),
    };
    return { kind: 'in', login: this.#revocations.born(login, claim.age) };
  }

  #failed(cause: unknown, peer: Peer): LoginOutcome {
    this.#options.log.error({ err: cause, ip: peer.ip, door: peer.door }, 'a login could not be checked');
    return BUSY;
  }

  /** Refuses an address that may not try now; makes one wait that tries at an account under attack. */
  async #held(peer: Peer, user: string): Promise<LoginOutcome | undefined> {
    if (this.#free(peer)) return undefined;
    const admission = this.#options.throttle.look(attemptOf(peer, user), this.#options.clock());
    if (admission.kind === 'throttled') return admission;
    if (admission.delay > 0) await this.#wait(admission.delay);
    return undefined;
  }

  async #checkPassword(peer: Peer, user: string, password: string, authzid: string | undefined): Promise<Checked> {
    const prepared = preparePassword(password);
    if (!prepared) return { kind: 'malformed', why: 'the password is empty or has forbidden characters' };
    const claim = await this.#claims.find(peer, user);
    const self = isSelf(user, authzid);
    const cached = self ? this.#cached(claim, prepared) : undefined;
    if (cached) return { kind: 'match', claim, credential: cached };
    const checked = await this.#gate.run(() =>
      this.#guess(peer, claim, async () => {
        const { storedKey } = await this.#derive(prepared, claim);
        const current = await this.#claims.current(peer, user, claim);
        const credential = current.usable.find((one) => timingSafeEqual(one.storedKey, storedKey));
        if (!credential || !current.known || !self) return undefined;
        this.#cache.add(current.known.account, credential, prepared, this.#options.clock());
        return { kind: 'match', claim: current, credential };
      }),
    );
    return checked ?? BUSY;
  }

  #cached({ known, usable }: Claim, password: string): Credential | undefined {
    const credential = known && this.#cache.find(known, password, this.#options.clock());
    return credential && usable.includes(credential) ? credential : undefined;
  }

  async #challenge(mechanism: string, peer: Peer, user: string): Promise<ScramChallenge | LoginOutcome> {
    try {
      const claim = await this.#claims.find(peer, user);
      return {
        kind: 'challenge',
        salt: claim.salt,
        iterations: claim.iterations,
        prove: async (message, proof, authzid) => {
          let signature = '';
          const outcome = await this.#attempt(mechanism, peer, user, () =>
            this.#guess(peer, claim, async () => {
              const current = await this.#claims.current(peer, user, claim);
              const storedKey = provenKey(this.#claims.tried(current, user), message, proof);
              const credential = current.usable.find((one) => one.storedKey === storedKey);
              if (!credential || !isSelf(user, authzid)) return undefined;
              signature = serverFinal(credential, message);
              return { kind: 'match', claim: current, credential };
            }),
          );
          return outcome.kind === 'in' ? { kind: 'proven', outcome, signature } : outcome;
        },
      };
    } catch (error) {
      return this.#failed(error, peer);
    }
  }

  /** Counts the guess before it is checked, and takes that back unless it was wrong. */
  async #guess(peer: Peer, { attempt }: Claim, check: () => Promise<Checked | undefined>): Promise<Checked> {
    const { throttle, clock } = this.#options;
    const admission = this.#free(peer) ? undefined : throttle.admit(attempt, clock());
    if (admission?.kind === 'throttled') return admission;
    let wrong = false;
    try {
      const checked = await check();
      wrong = checked === undefined;
      return checked ?? WRONG;
    } finally {
      if (!wrong) admission?.forgive();
    }
  }

  async #derive(password: string, { salt, iterations }: Claim): Promise<Verifier> {
    this.#options.meter.count('login_derivations_total');
    return verifierOf(await (this.#options.derive ?? saltedPassword)(password, salt, iterations));
  }

  #free(peer: Peer): boolean {
    return (this.#options.local && isLoopback(peer.ip)) || this.#options.exempt(peer.ip);
  }

  async #wait(ms: number): Promise<void> {
    await (this.#options.wait ?? ((time) => sleep(time, undefined, { ref: false })))(ms);
  }
}
