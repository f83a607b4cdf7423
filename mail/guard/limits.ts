import { MOST_BANS } from '../store/ban.ts';
import type { OffenceLimits } from './offences.ts';
import type { PlaceLimits } from './places.ts';

export interface GuardLimits extends PlaceLimits {
  /** Of one network, to all doors together. */
  connectionsPerMinute: number;
  /** Mail from one network that did not log in. */
  messagesPerMinute: number;
  octetsPerMinute: number;
  offences: OffenceLimits;
  /** Networks that something is noted of at most; about 150 octets each. */
  networks: number;
  bans: number;
}

export const LIMITS: GuardLimits = {
  total: { smtp: 1000, imap: 4000, http: 1000 },
  each: 30,
  eachAll: 60,
  neighbours: 3,
  connectionsPerMinute: 300,
  messagesPerMinute: 500,
  octetsPerMinute: 1_000_000_000,
  offences: { logins: 100, recipients: 35, scans: 30, loitering: 150 },
  networks: 80_000,
  bans: MOST_BANS,
};
