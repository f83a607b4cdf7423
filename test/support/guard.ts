import { Guard, type GuardOptions } from '../../mail/guard/guard.ts';
import type { GuardLimits } from '../../mail/guard/limits.ts';
import { quiet } from '../../mail/log.ts';
import { firstBan } from '../../mail/store/limit/ban.ts';

const NO_PACE: Partial<GuardLimits> = {
  connectionsPerMinute: Infinity,
  messagesPerMinute: Infinity,
  octetsPerMinute: Infinity,
  offences: { logins: Infinity, recipients: Infinity, scans: Infinity, loitering: Infinity },
};

/** A guard that counts the places of everybody, and what else `limits` asks for; its bans are in memory alone. */
export function testGuard(limits: Partial<GuardLimits> = {}, over: Partial<GuardOptions> = {}): Guard {
  const clock = over.clock ?? Date.now;
  return new Guard({
    limits: { ...NO_PACE, ...limits },
    clock,
    isExempt: () => false,
    saveBan: (offender) => Promise.resolve(firstBan(offender, clock())),
    log: quiet,
    meter: quiet,
    ...over,
  });
}
