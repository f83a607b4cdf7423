import { createHmac, pbkdf2Sync } from 'node:crypto';

import { createLogins } from '../../mail/login/logins.ts';
import type { Authenticator, LoginOptions } from '../../mail/login/logins.ts';
import type { AccountCredentials, CredentialSource } from '../../mail/login/credentials.ts';
import { Throttle } from '../../mail/login/throttle.ts';
import type { Login, LoginOutcome, Peer, SaslExchange, SaslStep } from '../../mail/login/types.ts';
import { makeVerifier, saltedPassword, sha256 } from '../../mail/login/verifier.ts';
import { quiet } from '../../mail/log.ts';
import { addressKey, parseAddress } from '../../mail/message/address.ts';
import { testGuard } from './guard.ts';

export const PEER: Peer = { ip: '192.0.2.7', protocol: 'imap', secure: true };

/** Accounts kept in memory: address to password, or to a list of credentials. */
export class FakeCredentials implements CredentialSource {
  readonly accounts = new Map<string, AccountCredentials>();
  readonly uses: Array<{ credential: number; at: number }> = [];
  finds = 0;
  #nextId = 1;

  async add(address: string, ...passwords: Array<string | FakeCredential>): Promise<AccountCredentials> {
    const parsed = parseAddress(address);
    if (!parsed) throw new Error(`not an address: ${address}`);
    const salt = Buffer.alloc(16, address);
    const credentials = await Promise.all(
      passwords.map(async (one) => {
        const { password, scopes, expiresAt } = typeof one === 'string' ? { password: one } : one;
        const verifier = await makeVerifier(password, salt);
        return { id: this.#nextId++, ...verifier, scopes: scopes ?? ['imap', 'smtp'], expiresAt: expiresAt ?? null };
      }),
    );
    const account = { account: this.accounts.size + 1, address: parsed, salt, iterations: 4096, credentials };
    this.accounts.set(addressKey(parsed), account);
    return account;
  }

  async find(user: string): Promise<AccountCredentials | undefined> {
    this.finds += 1;
    return this.accounts.get(user);
  }

  used(credential: number, at: number): void {
    this.uses.push({ credential, at });
  }
}

interface FakeCredential {
  password: string;
  scopes?: string[];
  expiresAt?: number;
}

export interface LoginWorld {
  logins: Authenticator;
  credentials: FakeCredentials;
  throttle: Throttle;
  /** Settable; ms UTC. */
  now: number;
  /** Every delay that was asked for, in ms. */
  waits: number[];
  derivations: number;
}

/** Logins over fake credentials with a settable clock; nothing really waits, but time passes. */
export function loginWorld(overrides: Partial<LoginOptions> = {}): LoginWorld {
  const world: LoginWorld = {
    credentials: new FakeCredentials(),
    throttle: new Throttle(),
    now: Date.UTC(2026, 0, 1),
    waits: [],
    derivations: 0,
    logins: undefined as unknown as Authenticator,
  };
  world.logins = createLogins({
    credentials: world.credentials,
    throttle: world.throttle,
    guard: testGuard(),
    clock: () => world.now,
    wait: async (ms) => {
      world.waits.push(ms);
      world.now += ms;
    },
    secret: Buffer.alloc(32, 7),
    local: false,
    exempt: () => false,
    log: quiet,
    meter: quiet,
    derive: (...args) => {
      world.derivations += 1;
      return saltedPassword(...args);
    },
    ...overrides,
  });
  return world;
}

export function start(logins: Authenticator, mechanism: string, peer: Peer = PEER): SaslExchange {
  const exchange = logins.start(mechanism, peer);
  if (!exchange) throw new Error(`${mechanism} is not offered`);
  return exchange;
}

export async function plain(
  logins: Authenticator,
  user: string,
  password: string,
  peer: Peer = PEER,
): Promise<SaslStep> {
  return start(logins, 'PLAIN', peer).step(Buffer.from(`\0${user}\0${password}`));
}

export interface ScramTwist {
  mechanism?: string;
  gs2?: string;
  /** Data of the channel binding. */
  binding?: Buffer;
  /** Changes the last message before it is sent. */
  final?: (message: string) => string;
  /** Answers the server's signature. */
  ack?: Buffer;
}

/** A SCRAM-SHA-256 client written from RFC 5802 alone; checks the server's signature too. */
export async function scram(
  logins: Authenticator,
  user: string,
  password: string,
  peer: Peer = PEER,
  twist: ScramTwist = {},
): Promise<SaslStep> {
  const exchange = start(logins, twist.mechanism ?? 'SCRAM-SHA-256', peer);
  const gs2 = twist.gs2 ?? 'n,,';
  const bare = `n=${user.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=clientnonce`;
  const first = await exchange.step(Buffer.from(gs2 + bare));
  if (first.kind !== 'challenge') return first;
  const server = first.data.toString();
  const { r = '', s = '', i = '' } = Object.fromEntries(server.split(',').map((one) => [one[0], one.slice(2)]));
  const salted = pbkdf2Sync(password, Buffer.from(s, 'base64'), Number(i), 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const bound = Buffer.concat([Buffer.from(gs2), twist.binding ?? Buffer.alloc(0)]);
  const withoutProof = `c=${bound.toString('base64')},r=${r}`;
  const authMessage = `${bare},${server},${withoutProof}`;
  const signature = createHmac('sha256', sha256(clientKey)).update(authMessage).digest();
  const proof = clientKey.map((octet, at) => octet ^ (signature[at] ?? 0));
  const final = `${withoutProof},p=${Buffer.from(proof).toString('base64')}`;
  const second = await exchange.step(Buffer.from(twist.final?.(final) ?? final));
  if (second.kind !== 'challenge') return second;
  const serverKey = createHmac('sha256', salted).update('Server Key').digest();
  const expected = `v=${createHmac('sha256', serverKey).update(authMessage).digest('base64')}`;
  if (second.data.toString() !== expected) throw new Error('the server does not know the password');
  return exchange.step(twist.ack ?? Buffer.alloc(0));
}

export function loginOf(outcome: LoginOutcome | SaslStep): Login {
  if (outcome.kind !== 'in') throw new Error(`not logged in: ${JSON.stringify(outcome)}`);
  return outcome.login;
}
