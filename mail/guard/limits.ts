import { MAX_BANS } from '../store/limit/ban.ts';
import type { ConnectionLimits } from './connection-limiter.ts';
import type { OffenceLimits } from './offences.ts';

export interface GuardLimits extends ConnectionLimits {
  /** New connections of one network to all protocols. */
  connectionsPerMinute: number;
  /** Unauthenticated mail from one network. */
  messagesPerMinute: number;
  octetsPerMinute: number;
  offences: OffenceLimits;
  /** Networks with counters in memory, about 150 octets each. */
  networks: number;
  bans: number;
}

export const GUARD_LIMITS: GuardLimits = {
  total: { smtp: 1000, imap: 4000, http: 1000 },
  perNetwork: 30,
  perNetworkTotal: 60,
  neighborhoodFactor: 3,
  perAccount: 30,
  connectionsPerMinute: 300,
  messagesPerMinute: 500,
  octetsPerMinute: 1_000_000_000,
  offences: { logins: 100, recipients: 35, scans: 30, loitering: 150 },
  networks: 80_000,
  bans: MAX_BANS,
};
