import type { Session } from './session.ts';

interface Presence {
  readonly sessions: Set<Session>;
  /** Commands that may still be given at once; refilled with time. */
  tokens: number;
  /** When `tokens` was right, in ms. */
  at: number;
}

/** Who is logged in how often, and how fast each account may command. */
export class Accounts {
  private readonly present = new Map<number, Presence>();
  private readonly sessionsEach: number;
  private readonly commandsEachMinute: number;

  constructor(limits: { sessionsEach: number; commandsEachMinute: number }) {
    this.sessionsEach = limits.sessionsEach;
    this.commandsEachMinute = limits.commandsEachMinute;
  }

  /**
   * Lets a session in. When the account has too many, the one that has been idle longest goes: dead phones hold
   * sockets for long, and refusing would lock out their owner. False when all of them are at work.
   */
  admit(account: number, session: Session, now: number): boolean {
    let presence = this.present.get(account);
    if (presence === undefined) {
      presence = { sessions: new Set(), tokens: this.commandsEachMinute, at: now };
      this.present.set(account, presence);
    }
    if (presence.sessions.size >= this.sessionsEach && !evict(presence.sessions)) return false;
    presence.sessions.add(session);
    return true;
  }

  leave(account: number, session: Session): void {
    const presence = this.present.get(account);
    presence?.sessions.delete(session);
    if (presence?.sessions.size === 0) this.present.delete(account);
  }

  /** Milliseconds that the next command of this account has to wait; 0 nearly always. */
  wait(account: number, now: number): number {
    const presence = this.present.get(account);
    if (presence === undefined) return 0;
    const each = 60_000 / this.commandsEachMinute;
    const refilled = presence.tokens + Math.max(0, now - presence.at) / each;
    presence.tokens = Math.min(this.commandsEachMinute, refilled) - 1;
    presence.at = now;
    return presence.tokens >= 0 ? 0 : Math.min(60_000, -presence.tokens * each);
  }
}

function evict(sessions: Set<Session>): boolean {
  let oldest: Session | undefined;
  for (const session of sessions) {
    if (session.resting && (oldest === undefined || session.lastInput < oldest.lastInput)) oldest = session;
  }
  if (oldest === undefined) return false;
  // At once, though a dead phone is gone only later: it would be the oldest again and nobody would have to go.
  sessions.delete(oldest);
  oldest.bye('Another client of yours took this place', 'LIMIT');
  return true;
}
