import type { ReadEvent, WordsEvent } from '../../mail/agents/reading.ts';
import type { SendingPolicy } from '../../mail/agents/gate/sending-policy.ts';
import type { SentTrip, TripOutcome } from '../../mail/agents/gate/types.ts';

/** A login with an account's password. */
export interface AccountPasswordLogin {
  readonly account: number;
  readonly credential: number;
}

/** A token that reads. */
export interface TokenReader {
  readonly token: number;
}

/** Location of a canary trip, for the notice to its owners. */
interface TripLocation {
  readonly tenant: number;
  readonly protocol: string;
}

/** Freezes agents that touch canaries. Each promise resolves when that is on disk: only then may the answer be sent. */
export interface CanaryMonitor {
  /** Checks messages whose content is about to be shown; `agent` names the agent, undefined for a person. */
  opened(
    agent: () => Promise<string | undefined>,
    read: { account: number; emails: readonly number[]; protocol: string },
  ): Promise<void>;
  /** Checks an answer that is about to be shown. */
  shown(credential: string, answer: unknown, place: TripLocation): Promise<void>;
  /** Checks octets as they pass. */
  passing(credential: string, octets: AsyncIterable<Buffer>, place: TripLocation): AsyncIterable<Buffer>;
  /** Checks mail that would carry canaries out. */
  sent(credential: string, trip: SentTrip): Promise<TripOutcome>;
}

/** Knows which callers are agents, and records what they read before they read it. */
export interface AgentMonitor {
  readonly policy: SendingPolicy;
  readonly canaries: CanaryMonitor;
  /**
   * Records that messages are about to be shown, and freezes an agent that opens a canary. Resolves when that is on
   * disk: only then may they be shown. `protocol` names the endpoint for the owner's notice.
   */
  onRead(by: TokenReader | AccountPasswordLogin, event: ReadEvent, protocol: string): Promise<void>;
  /** Taints an agent that is shown text outside any mailbox, such as queued mail. */
  onTextRead(by: TokenReader | AccountPasswordLogin): Promise<void>;
  /** Taints an agent that is shown words of tainted agents, and marks words that a tainted agent is about to write. */
  onWords(by: TokenReader | AccountPasswordLogin, event: WordsEvent): Promise<void>;
  /** Returns why a password is refused while agents are stopped; undefined if it is not. */
  barredLogin(login: AccountPasswordLogin): Promise<string | undefined>;
  isAgentsLogin(login: AccountPasswordLogin): Promise<boolean>;
}
