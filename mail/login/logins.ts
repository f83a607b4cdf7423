import { timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { isLoopback } from '../guard/network.ts';
import type { ConnectionGuard } from '../guard/types.ts';
import { lruMap } from '../limits/lru-map.ts';
import { rateLimitedLog } from '../limits/rate-limited-log.ts';
import { Semaphore } from '../limits/semaphore.ts';
import type { Log, Meter } from '../log.ts';
import type { BearerSource } from './bearer.ts';
import { attemptOf, LoginCandidates, isSelf, userKey } from './candidates.ts';
import type { LoginCandidate } from './candidates.ts';
import { SessionExpiries } from './expiries.ts';
import type { Credential, CredentialSource } from './credentials.ts';
import { PasswordCache } from './password-cache.ts';
import { preparePassword } from './saslprep.ts';
import { Revocations } from './revocations.ts';
import type { Revocation } from './revocations.ts';
import { MECHANISMS } from './sasl.ts';
import type { SaslBackend, ScramChallenge } from './sasl-backend.ts';
import { provenKey, serverFinal } from './scram.ts';
import type { Throttle } from './throttle.ts';
import type { Login, LoginOutcome, Logins, Peer, SessionLogins } from './types.ts';
import { saltedPassword, verifierOf } from './verifier.ts';
import type { Derivation, Verifier } from './verifier.ts';

/** Limits of key derivations: a flood of logins must not fill the thread pool, which file reads and DNS need too. */
const DERIVATIONS = { limit: 2, maxWaiting: 64 };
/** Delay of the response to a wrong password, ms. */
const FAILURE_DELAY_MS = 2000;
const MINUTE_MS = 60_000;

export interface LoginOptions {
  credentials: CredentialSource;
  throttle: Throttle;
  /** Counts failures and successes. */
  guard: Pick<ConnectionGuard, 'addOffence' | 'welcome'>;
  /** Milliseconds UTC. */
  clock: () => number;
  /** Resolves after some ms. */
  wait?: (ms: number) => Promise<void>;
  /** 32 persistent octets that derive the salts of users that do not exist. */
  secret: Buffer;
  /** Local mode: loopback clients are neither counted nor delayed. */
  local: boolean;
  /** Networks that are neither counted nor delayed. */
  exempt(ip: string): boolean;
  log: Log;
  meter: Meter;
  /** SASL mechanisms to offer, strongest first; all when left out. */
  mechanisms?: readonly string[];
  /** The reason why a right password is refused, such as a suspended account; undefined: accepted. */
  barred?: (password: Pick<Login, 'account' | 'credential'>) => Promise<string | undefined>;
  /** Finds what tokens stand for; left out: OAUTHBEARER and XOAUTH2 are not offered. */
  bearer?: BearerSource;
  /** Called for each revocation, so that other nodes end their sessions too; left out: there are none. */
  announce?: (what: Revocation) => void;
  /** PBKDF2, unless a test counts its calls. */
  derive?: Derivation;
}

/** Verifies logins. All protocol servers share one, so that failed attempts are counted together. */
export interface Authenticator extends SessionLogins {
  /** Ends the sessions of a rotated or revoked credential, or of all credentials of an account. Call it after the commit. */
  revoked(what: Revocation): void;
  /** Ends the sessions of what another node has revoked. */
  revokedElsewhere(what: Revocation): void;
}

/** A verified credential, or the outcome of the failed attempt. */
type CheckedCredential = { kind: 'match'; candidate: LoginCandidate; credential: Credential } | LoginOutcome;

const BEARER_MECHANISMS = { OAUTHBEARER: true, XOAUTH2: true };

/** A scope that denies writes. */
const READ_ONLY = 'read-only';
const WRONG: LoginOutcome = { kind: 'wrong' };
const BUSY: LoginOutcome = { kind: 'busy' };

/** Creates the authenticator of the process. */
export function createLogins(options: LoginOptions): Authenticator {
  return new LoginAuthenticator(options);
}

class LoginAuthenticator implements Authenticator {
  readonly #options: LoginOptions;
  readonly #cache = new PasswordCache();
  readonly #derivations = new Semaphore(DERIVATIONS);
  readonly #revocations = new Revocations();
  readonly #expiries: SessionExpiries;
  readonly #candidates: LoginCandidates;
  readonly #mechanisms: readonly string[];
  readonly #log: Log;
  /** Time of the last log line for a JMAP login of a credential, ms UTC; of at most 10,000 credentials. */
  readonly #loggedAt = lruMap<number, number>(10_000);

  constructor(options: LoginOptions) {
    this.#options = options;
    this.#expiries = new SessionExpiries(options.clock);
    this.#candidates = new LoginCandidates(options.credentials, options.secret, options.clock, this.#revocations);
    this.#log = rateLimitedLog(options.log);
    this.#mechanisms = options.mechanisms ?? Object.keys(MECHANISMS);
  }

  mechanisms(peer: Peer): readonly string[] {
    if (!peer.secure) return [];
    return this.#mechanisms.filter((name) => {
      if (name.endsWith('-PLUS')) return peer.channelBinding !== undefined;
      return name in BEARER_MECHANISMS ? this.#options.bearer !== undefined : true;
    });
  }

  start(mechanism: string, peer: Peer): ReturnType<Logins['start']> {
    const name = mechanism.toUpperCase();
    if (!this.mechanisms(peer).includes(name)) return undefined;
    return MECHANISMS[name]?.(this.#backend(name, peer));
  }

  async password(user: string, password: string, peer: Peer): Promise<LoginOutcome> {
    if (!peer.secure) return { kind: 'malformed', why: 'passwords are accepted on encrypted connections only' };
    return this.#backend('password', peer).password(user, password, undefined);
  }

  async resume<L extends { login: Login }>(read: () => Promise<L | undefined>): Promise<L | undefined> {
    const { generation } = this.#revocations;
    const found = await read();
    if (found !== undefined) this.#revocations.recordLogin(found.login, generation);
    return found;
  }

  onRevoked: Logins['onRevoked'] = (login, end) => {
    if (login.token !== undefined) return this.#watchToken(login, end);
    const unwatch = this.#revocations.watch(login, end);
    if (login.expiresAt === undefined) return unwatch;
    const cancelExpiry = this.#expiries.add(login.expiresAt, end);
    return () => {
      unwatch();
      cancelExpiry();
    };
  };

  revoked(what: Revocation): void {
    this.revokedElsewhere(what);
    this.#options.announce?.(what);
  }

  revokedElsewhere(what: Revocation): void {
    this.#cache.drop(what.account);
    this.#revocations.revoke(what);
  }

  #backend(mechanism: string, peer: Peer): SaslBackend {
    return {
      password: (user, password, authzid) =>
        this.#attempt(mechanism, peer, user, () => this.#checkPassword(peer, user, password, authzid)),
      challenge: (user) => this.#challenge(mechanism, peer, user),
      bearer: (user, token) => this.#bearer(mechanism, peer, user, token),
      channelBinding: peer.channelBinding,
    };
  }

  #bearer(mechanism: string, peer: Peer, user: string | undefined, token: string): Promise<LoginOutcome> {
    const name = user ?? '';
    return this.#attempt(mechanism, peer, name, async () => {
      const found = (await this.#options.bearer?.find({ token, user, peer })) ?? WRONG;
      if (found.kind === 'password') {
        const isOther = user !== undefined && !isSelf(found.user, user);
        return isOther ? WRONG : this.#checkPassword(peer, found.user, found.password, undefined);
      }
      const checked: CheckedCredential = found.kind === 'token' ? { kind: 'in', login: found.login } : found;
      return this.#guess(peer, { attempt: attemptOf(peer, name) }, () =>
        Promise.resolve(checked.kind === 'wrong' ? undefined : checked),
      );
    });
  }

  /** Ends a session by token within a minute after the token became invalid. */
  #watchToken(login: Login, end: () => void): () => void {
    const timer = setInterval(() => {
      // Store errors are ignored: the next check retries.
      this.#options.bearer?.isValid(login).then(
        (valid) => valid || end(),
        () => undefined,
      );
    }, MINUTE_MS).unref();
    return () => clearInterval(timer);
  }

  /** Runs one attempt: throttles, checks, logs, counts, and delays the response to a failure. */
  async #attempt(
    mechanism: string,
    peer: Peer,
    user: string,
    check: () => Promise<CheckedCredential>,
  ): Promise<LoginOutcome> {
    const outcome = await this.#decide(peer, user, check).catch((error: unknown) => this.#unavailable(error, peer));
    this.#report(outcome, mechanism, peer, user);
    this.#options.meter.count('login_attempts_total', { protocol: peer.protocol, mechanism, outcome: outcome.kind });
    if (outcome.kind === 'wrong' && !this.#isExempt(peer)) await this.#wait(FAILURE_DELAY_MS);
    return outcome;
  }

  #report(outcome: LoginOutcome, mechanism: string, peer: Peer, user: string): void {
    const { guard } = this.#options;
    if (outcome.kind === 'in') guard.welcome(peer.ip);
    if (this.#offends(outcome, peer, user)) guard.addOffence(peer.ip, 'logins');
    if (peer.protocol === 'jmap' && outcome.kind === 'in' && this.#isLogged(outcome.login.credential)) return;
    const fields = { ip: peer.ip, protocol: peer.protocol, mechanism, user: userKey(user), outcome: outcome.kind };
    this.#log.info(fields, 'login');
  }

  // A phone with an old password retries all day. In a network known to its account it is only throttled: a ban would hit
  // everybody behind the same address.
  #offends(outcome: LoginOutcome, peer: Peer, user: string): boolean {
    if (outcome.kind !== 'throttled') return outcome.kind === 'wrong';
    return !this.#options.throttle.isKnownNetwork(attemptOf(peer, user), this.#options.clock());
  }

  /** True when a JMAP login of the credential was logged within a minute: each JMAP request is a login. */
  #isLogged(credential: number): boolean {
    const now = this.#options.clock();
    const last = this.#loggedAt.get(credential);
    if (last !== undefined && now >= last && now - last < MINUTE_MS) return true;
    this.#loggedAt.set(credential, now);
    return false;
  }

  async #decide(peer: Peer, user: string, check: () => Promise<CheckedCredential>): Promise<LoginOutcome> {
    return (await this.#throttled(peer, user)) ?? (await this.#completeLogin(await check()));
  }

  async #completeLogin(checked: CheckedCredential): Promise<LoginOutcome> {
    if (checked.kind !== 'match') return checked;
    const { candidate, credential } = checked;
    if (!candidate.user) return WRONG;
    const why = await this.#options.barred?.({ account: candidate.user.account, credential: credential.id });
    if (why !== undefined) return { kind: 'barred', why };
    const { account, address, tenant } = candidate.user;
    const { credentials, throttle, clock } = this.#options;
    credentials.used(credential.id, clock());
    throttle.recordSuccess(candidate.attempt, clock());
    const readOnly = credential.scopes.includes(READ_ONLY);
    const { id, expiresAt } = credential;
    const login = {
      account,
      address,
      credential: id,
      ...(tenant !== undefined && { tenant }),
      ...(readOnly && { readOnly }),
      ...(expiresAt !== null && { expiresAt }),
    };
    return { kind: 'in', login: this.#revocations.recordLogin(login, candidate.generation) };
  }

  #unavailable(cause: unknown, peer: Peer): LoginOutcome {
    this.#options.log.error({ err: cause, ip: peer.ip, protocol: peer.protocol }, 'failed to check a login');
    return BUSY;
  }

  /** Refuses a throttled address, and delays attempts at an account under attack. */
  async #throttled(peer: Peer, user: string): Promise<LoginOutcome | undefined> {
    if (this.#isExempt(peer)) return undefined;
    const admission = this.#options.throttle.check(attemptOf(peer, user), this.#options.clock());
    if (admission.kind === 'throttled') return admission;
    if (admission.delay > 0) await this.#wait(admission.delay);
    return undefined;
  }

  async #checkPassword(
    peer: Peer,
    user: string,
    password: string,
    authzid: string | undefined,
  ): Promise<CheckedCredential> {
    const prepared = preparePassword(password);
    if (!prepared) return { kind: 'malformed', why: 'the password is empty or has forbidden characters' };
    const candidate = await this.#candidates.find(peer, user);
    const self = isSelf(user, authzid);
    const cached = self ? this.#cached(candidate, prepared) : undefined;
    if (cached) return { kind: 'match', candidate, credential: cached };
    if (this.#derivations.isFull) return BUSY;
    using _permit = await this.#derivations.acquire();
    return await this.#guess(peer, candidate, async () => {
      const { storedKey } = await this.#derive(prepared, candidate);
      const current = await this.#candidates.current(peer, user, candidate);
      const credential = current.usable.find((one) => timingSafeEqual(one.storedKey, storedKey));
      if (!credential || !current.user || !self) return undefined;
      this.#cache.add(current.user.account, credential, prepared, this.#options.clock());
      return { kind: 'match', candidate: current, credential };
    });
  }

  #cached({ user: known, usable }: LoginCandidate, password: string): Credential | undefined {
    const credential = known && this.#cache.find(known, password, this.#options.clock());
    return credential && usable.includes(credential) ? credential : undefined;
  }

  async #challenge(mechanism: string, peer: Peer, user: string): Promise<ScramChallenge | LoginOutcome> {
    try {
      const candidate = await this.#candidates.find(peer, user);
      return {
        kind: 'challenge',
        salt: candidate.salt,
        iterations: candidate.iterations,
        prove: async (message, proof, authzid) => {
          let signature = '';
          const outcome = await this.#attempt(mechanism, peer, user, () =>
            this.#guess(peer, candidate, async () => {
              const current = await this.#candidates.current(peer, user, candidate);
              const storedKey = provenKey(this.#candidates.keysToTry(current, user), message, proof);
              const credential = current.usable.find((one) => one.storedKey === storedKey);
              if (!credential || !isSelf(user, authzid)) return undefined;
              signature = serverFinal(credential, message);
              return { kind: 'match', candidate: current, credential };
            }),
          );
          return outcome.kind === 'in' ? { kind: 'proven', outcome, signature } : outcome;
        },
      };
    } catch (error) {
      return this.#unavailable(error, peer);
    }
  }

  /** Counts an attempt as failed before it is checked, and rolls that back unless it was wrong. */
  async #guess(
    peer: Peer,
    { attempt }: Pick<LoginCandidate, 'attempt'>,
    check: () => Promise<CheckedCredential | undefined>,
  ): Promise<CheckedCredential> {
    const { throttle, clock } = this.#options;
    const admission = this.#isExempt(peer) ? undefined : throttle.admit(attempt, clock());
    if (admission?.kind === 'throttled') return admission;
    let wrong = false;
    try {
      const checked = await check();
      wrong = checked === undefined;
      return checked ?? WRONG;
    } finally {
      if (!wrong) admission?.rollBack();
    }
  }

  async #derive(password: string, { salt, iterations }: LoginCandidate): Promise<Verifier> {
    this.#options.meter.count('login_derivations_total');
    return verifierOf(await (this.#options.derive ?? saltedPassword)(password, salt, iterations));
  }

  #isExempt(peer: Peer): boolean {
    return (this.#options.local && isLoopback(peer.ip)) || this.#options.exempt(peer.ip);
  }

  async #wait(ms: number): Promise<void> {
    await (this.#options.wait ?? ((time) => sleep(time, undefined, { ref: false })))(ms);
  }
}
