import type { SecureContext } from 'node:tls';
import type { ConnectionGuard } from '../guard/types.ts';
import type { Login, Logins } from '../login/types.ts';
import type { Log, Meter } from '../log.ts';
import type { MemoryBudget } from '../limits/memory-budget.ts';
import type { ImapLimits } from './limits.ts';
import type { ImapStore } from './imap-store.ts';

export interface Clock {
  /** ms; only differences count. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** Monotonic: when the system clock jumps ahead, sessions must not end as idle, and when it jumps back, NOTIFY must not stop. */
export const realClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: (ms) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms).unref();
    }),
};

/** Address and TLS mode of one listener. Port 0 takes a free port. */
export interface ImapListener {
  tls: 'starttls' | 'implicit';
  host: string;
  port: number;
}

export interface ImapOptions {
  /** The host name in the greeting. */
  hostname: string;
  listeners: readonly ImapListener[];
  logins: Logins;
  /** Opens the account's store, once per session. */
  open(login: Login): ImapStore;
  /** Offers UIDONLY. Off by default: Microsoft's cloud clients enable it and then use sequence numbers. */
  uidOnly?: boolean;
  /** URL of the JMAP session, for JMAPACCESS; undefined: not known. */
  jmapUrl?: () => string | undefined;
  /** Called at every handshake, with the name that the client sent, so that renewed certificates are used. */
  secureContext(serverName?: string): SecureContext;
  limits?: Partial<ImapLimits>;
  /** Memory for answers that wait for their readers. */
  memory?: MemoryBudget;
  /** Connection limits and bans. */
  guard: ConnectionGuard;
  /** True for networks without rate limits. */
  exempt?(ip: string): boolean;
  /** Local mode: loopback connections count as secure. */
  local?: boolean;
  log: Log;
  meter: Meter;
  clock?: Clock;
}
