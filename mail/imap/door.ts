import type { SecureContext } from 'node:tls';
import type { Gate } from '../guard/types.ts';
import type { Login, Logins } from '../login/types.ts';
import type { Log, Meter } from '../log.ts';
import type { Accounts } from './accounts.ts';
import type { Announcer } from './announcer.ts';
import type { ImapLimits } from './limits.ts';
import type { ImapStore } from './needs.ts';
import type { Session } from './session.ts';

export interface Clock {
  /** ms UTC */
  now(): number;
  sleep(ms: number): Promise<void>;
}

export const realClock: Clock = {
  now: () => Date.now(),
  sleep: (ms) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms).unref();
    }),
};

/** Where and how the door listens. Port 0 takes a free one. */
export interface ImapListener {
  tls: 'starttls' | 'implicit';
  host: string;
  port: number;
}

export interface ImapOptions {
  /** Our name in the greeting. */
  hostname: string;
  listeners: readonly ImapListener[];
  logins: Logins;
  /** The account's store, made for each session. */
  open(login: Login): ImapStore;
  /** Asked for at every handshake, so that certificates can be renewed. */
  secureContext(): SecureContext;
  limits?: Partial<ImapLimits>;
  /** Who may come in, and what speaks against whom. */
  guard: Gate;
  /** Networks that rate limits do not count. */
  exempt?(ip: string): boolean;
  /** Local mode: loopback connections count as secure. */
  local?: boolean;
  log: Log;
  meter: Meter;
  clock?: Clock;
}

/** What all sessions of the door share. */
export interface Door extends Required<Omit<ImapOptions, 'limits' | 'listeners'>> {
  readonly limits: ImapLimits;
  /** Capabilities that the commands bring. */
  readonly extensions: readonly string[];
  readonly accounts: Accounts;
  readonly announcer: Announcer;
  readonly sessions: Set<Session>;
  /** Takes up the work when input came for a session that rests. */
  converse(session: Session): void;
}
