import type { Settings } from '../../config/settings.ts';
import type { Policy } from '../../mail/delivery/policy.ts';
import type { Guard } from '../../mail/guard/guard.ts';
import type { Log } from '../../mail/log.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { RefusedLogin } from '../../mail/relay/smarthosts.ts';
import type { Throttle } from '../../mail/login/throttle.ts';
import type { Logins } from '../../mail/login/types.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import type { Agents } from '../agents/agents.ts';
import type { UnderWay } from '../agents/under-way.ts';
import type { SigningKeys } from '../domains/domains.ts';
import type { AskParents } from '../domains/parents.ts';
import type { HttpLimits } from '../http/rate.ts';
import type { Metrics } from '../metrics.ts';
import type { Operation } from './operation.ts';
import type { TextReader } from '../reading/apart/text-reader.ts';
import type { PdfReader } from '../reading/pdf/read-pdf.ts';
import type { Runner } from '../services/runner.ts';
import type { LastUsed } from '../tokens/last-used.ts';
import type { Waits } from '../waiting/waits.ts';

/** What operations need of the appliance that runs them. */
export interface World {
  readonly store: MailStore;
  readonly secrets: SecretBox;
  /** Passwords of mailboxes. */
  readonly logins: Logins;
  /** Failed logins, of mailboxes and of people. */
  readonly throttle: Throttle;
  /** Who may come in. */
  readonly guard: Guard;
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Milliseconds UTC. */
  readonly clock: () => number;
  /** The resolver that the settings name; every look-up of the product goes through it. */
  readonly resolver: Resolver;
  /** The same, and remembers nothing: for people who have just changed their records. */
  readonly lookNow: Resolver;
  /** The name servers of a domain as the zone above it has them. */
  readonly parents: AskParents;
  readonly keys: SigningKeys;
  readonly lastUsed: LastUsed;
  readonly limits: HttpLimits;
  /** Says of whoever sends whether that is an agent; may hold or refuse what leaves. */
  readonly policy: Policy;
  /** Who is one, and what it was shown. */
  readonly agents: Agents;
  /** Why mail for elsewhere may not go out now (local mode); null lets it go. */
  readonly hold: string | null;
  /** {base_url}, without a slash at the end. Known once the doors are open. */
  readonly baseUrl: () => string;
  /** Ports that were really opened. */
  readonly ports: () => Readonly<Partial<Record<string, number>>>;
  /** What every door shows. */
  readonly certificate: () => { pem: string; selfSigned: boolean };
  readonly startedAt: number;
  /** Names of readiness checks that fail now. */
  readonly failing: () => string[];
  /** Credentials of an account that hold no more, or all of them: cached logins are dropped and open sessions end. */
  readonly revoked: (account: number, credentials?: readonly number[]) => void;
  /** Everything that can be done; loaded at first use. */
  readonly catalogue: () => Promise<readonly Operation[]>;
  /** Reads documents of strangers. */
  readonly pdfs: PdfReader;
  /** What people accepted and is being done now. */
  readonly underWay: UnderWay;
  /** Reads texts of strangers. */
  readonly texts: TextReader;
  /** Everybody who waits for mail. */
  readonly waits: Waits;
  /** Runs what services are made of. */
  readonly runner: Runner;
  /** Queue rows may have become due. */
  readonly queueChanged: () => void;
  /** Smarthosts that refuse their login now. */
  readonly refusedLogins: () => readonly RefusedLogin[];
}
