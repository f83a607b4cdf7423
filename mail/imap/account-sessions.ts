/** A session that can be ended to make room for a newer one. */
export interface AdmittedSession {
  readonly interruptible: boolean;
  readonly lastInput: number;
  bye(text: string, code?: string): void;
}

interface AccountActivity {
  readonly sessions: Set<AdmittedSession>;
  /** Commands that may be given at once; refilled with time. */
  tokens: number;
  /** Time of the last refill, ms. */
  refilledAt: number;
}

/** Limits of sessions and of commands per minute, for each account. */
export class AccountSessions {
  private readonly active = new Map<number, AccountActivity>();
  private readonly sessionsEach: number;
  private readonly commandsEachMinute: number;

  constructor(limits: { sessionsEach: number; commandsEachMinute: number }) {
    this.sessionsEach = limits.sessionsEach;
    this.commandsEachMinute = limits.commandsEachMinute;
  }

  /**
   * Admits a session. When the account has too many, the one that has been idle longest is closed: dead phones hold
   * sockets for long, and refusing would lock out their owner. False when all sessions run a command.
   */
  admit(account: number, session: AdmittedSession, now: number): boolean {
    let presence = this.active.get(account);
    if (presence === undefined) {
      presence = { sessions: new Set(), tokens: this.commandsEachMinute, refilledAt: now };
      this.active.set(account, presence);
    }
    if (presence.sessions.size >= this.sessionsEach && !evictIdlest(presence.sessions)) return false;
    presence.sessions.add(session);
    return true;
  }

  leave(account: number, session: AdmittedSession): void {
    const presence = this.active.get(account);
    presence?.sessions.delete(session);
    if (presence?.sessions.size === 0) this.active.delete(account);
  }

  /** Delay of the account's next command, ms; nearly always 0. */
  commandDelay(account: number, now: number): number {
    const presence = this.active.get(account);
    if (presence === undefined) return 0;
    const each = 60_000 / this.commandsEachMinute;
    const refilled = presence.tokens + Math.max(0, now - presence.refilledAt) / each;
    presence.tokens = Math.min(this.commandsEachMinute, refilled) - 1;
    presence.refilledAt = now;
    return presence.tokens >= 0 ? 0 : Math.min(60_000, -presence.tokens * each);
  }
}

function evictIdlest(sessions: Set<AdmittedSession>): boolean {
  let oldest: AdmittedSession | undefined;
  for (const session of sessions) {
    if (session.interruptible && (oldest === undefined || session.lastInput < oldest.lastInput)) oldest = session;
  }
  if (oldest === undefined) return false;
  // Deleted here, not on close: the socket of a dead phone closes late, and the same session would be evicted again.
  sessions.delete(oldest);
  oldest.bye('Connection limit of this account reached: closed the longest idle connection', 'LIMIT');
  return true;
}
