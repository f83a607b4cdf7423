import type { DocumentReader, TextTaskRunner } from './text-tasks.ts';
import type { AgentMonitor } from './agent-monitor.ts';
import type { DnsPublisher } from './dns-publisher.ts';
import type { MailTransfers } from './mail-transfers.ts';
import type { MailWaits } from './mail-waits.ts';
import type { Metrics } from './metrics.ts';
import type { RecentLog } from './recent-log.ts';
import type { ServerBackups } from './server-backups.ts';
import type { ServiceRunner } from './service-runner.ts';
import type { Settings } from '../../config/settings.ts';
import type { SendingPolicy } from '../../mail/agents/gate/sending-policy.ts';
import type { Guard } from '../../mail/guard/guard.ts';
import type { KeyedSemaphore } from '../../mail/limits/keyed-semaphore.ts';
import type { MemoryBudget } from '../../mail/limits/memory-budget.ts';
import type { SteadyClock } from '../../mail/jobs/steady-clock.ts';
import type { Log } from '../../mail/log.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { RefusedLogin } from '../../mail/relay/smarthosts.ts';
import type { Throttle } from '../../mail/login/throttle.ts';
import type { SessionLogins } from '../../mail/login/types.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';

/** Last use of tokens and API keys, including times not stored yet. */
export interface LastUsedTimes {
  token(id: number, at: number): void;
  key(id: number, at: number): void;
  /** Returns the time of the last use: `stored`, or a later one. */
  freshest(id: number, stored: number | null, kind: 'token' | 'key'): number | null;
}

/** Rate limits of requests, shared by all HTTP endpoints. */
export interface RequestLimits {
  /** True for a peer that is exempt. */
  isFree(ip: string): boolean;
  /** Counts a request and returns the seconds to wait, or 0. `token` is the id of a valid credential. */
  take(ip: string, token: number | string | undefined, now: number): number;
}

/** Everything that areas use of the running appliance. Composed in src/start. */
export interface AreaContext {
  readonly store: MailStore;
  readonly secrets: SecretBox;
  /** Passwords of mailboxes. */
  readonly logins: SessionLogins;
  /** Failed logins, of mailboxes and of people. */
  readonly throttle: Throttle;
  /** Connection limits and bans. */
  readonly guard: Guard;
  readonly settings: Settings;
  readonly log: Log;
  /** The newest lines of the log. */
  readonly recentLog: RecentLog;
  readonly metrics: Metrics;
  /** Milliseconds UTC. */
  readonly clock: () => number;
  /** Watches for jumps of the system clock; left out: the clock is trusted. */
  readonly steadyClock?: SteadyClock | undefined;
  /** The configured resolver; every lookup of the product uses it. */
  readonly resolver: Resolver;
  /** The same without a cache: for people who have just changed their records. */
  readonly lookNow: Resolver;
  /** Returns the name servers of a domain as the parent zone lists them. */
  readonly parents: (domain: string) => Promise<string[] | undefined>;
  /** Publishes the records of domains at DNS providers. */
  readonly dnsPublisher: DnsPublisher;
  /** DKIM signing keys; dropped from the cache when a domain changes. */
  readonly keys: { evict(domain: string): void };
  readonly lastUsed: LastUsedTimes;
  readonly limits: RequestLimits;
  /** Memory for bodies that are read and answers that wait for their readers, of all protocols. */
  readonly memory: MemoryBudget;
  /** The gate: identifies agents among senders, and may hold or refuse outgoing mail. */
  readonly policy: SendingPolicy;
  /** Identifies agents and records what they read. */
  readonly agents: AgentMonitor;
  /** Reason to hold outgoing mail (local mode); null: nothing is held. */
  readonly hold: string | null;
  /** {base_url} without a trailing slash. Available once the listeners are open. */
  readonly baseUrl: () => string;
  /** Ports that were actually opened. */
  readonly ports: () => Readonly<Partial<Record<string, number>>>;
  /** The certificate of all TLS listeners. */
  readonly certificate: () => { pem: string; selfSigned: boolean };
  /** Signs a document with the key of this certificate (CMS). */
  readonly signDocument: (document: Uint8Array) => Buffer;
  readonly startedAt: number;
  /** Names of failing readiness checks. */
  readonly failing: () => string[];
  /** Reports revoked credentials of an account, or all of them: drops cached logins and ends open sessions. */
  readonly revoked: (account: number, credentials?: readonly number[]) => void;
  /** Reads untrusted PDF documents. */
  readonly pdfs: DocumentReader;
  /**
   * Accepted proposals in execution. An accepted proposal without an outcome that is not here was interrupted: the
   * process ended, or the outcome could not be recorded.
   */
  readonly inFlight: KeyedSemaphore<'proposal'>;
  /** Reads untrusted text. */
  readonly texts: TextTaskRunner;
  /** Callers that wait for mail. */
  readonly waits: MailWaits;
  /** Runs imports and exports. */
  readonly transfers: MailTransfers;
  /** Backups to the target of the settings. */
  readonly backups: ServerBackups;
  /** Runs services. */
  readonly runner: ServiceRunner;
  /** Call when queue rows may have become due. */
  readonly queueChanged: () => void;
  /** Returns the smarthosts that reject their login now. */
  readonly refusedLogins: () => readonly RefusedLogin[];
}
