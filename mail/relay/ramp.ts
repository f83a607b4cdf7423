const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Limits on mail from an IP address that receivers do not know yet: they take a sudden flood for a stolen server. */

/** Recipients an hour at level 0; each level doubles it. */
const BASE = 100;
/** A new receiver: 200 recipients an hour, which a team of 30 people does not reach. */
const FIRST_LEVEL = 1;
/** From this level on there is no limit: 8 days after the first message, or more where a receiver objected. */
export const WARM_LEVEL = 9;
const LEVELS_LOST = 2;

/** Progress of the sending ramp at one receiving organization. */
export interface RampState {
  /** Registrable domain of its mail servers. */
  organization: string;
  level: number;
  /** Last change of the level, ms UTC. */
  levelAt: number;
  /** Hour that `sent` counts, in hours UTC. */
  hour: number;
  /** Recipients of that hour, those under way included. */
  sent: number;
  /** Last objection of the receiver to the reputation of this server, ms UTC; 0: none. */
  objectedAt: number;
}

/** Decision for some recipients: the number that may be sent now; where it is less than all, the time for the rest. */
export interface RampDecision {
  count: number;
  /** ms UTC. */
  until: number;
  /** Recipients an hour. */
  limit: number;
}

export function newRamp(organization: string, now: number): RampState {
  return { organization, level: FIRST_LEVEL, levelAt: now, hour: hourOf(now), sent: 0, objectedAt: 0 };
}

/** Decides how many of `wanted` recipients may be sent now. */
export function rampDecision(state: RampState, wanted: number, now: number): RampDecision {
  if (state.level >= WARM_LEVEL) return { count: wanted, until: now, limit: Infinity };
  const limit = hourlyLimit(state.level);
  // Another hour, also an earlier one: a clock that was set back must not stop mail for longer than an hour.
  const sent = state.hour === hourOf(now) ? state.sent : 0;
  const count = Math.max(0, Math.min(wanted, limit - sent));
  return { count, until: (hourOf(now) + 1) * HOUR, limit };
}

/** Counts recipients that are about to be sent. */
export function reserveRamp(state: RampState, count: number, now: number): RampState {
  const hour = hourOf(now);
  return { ...state, hour, sent: (state.hour === hour ? state.sent : 0) + count };
}

/** Answers of a receiver to one attempt. */
export interface RampAnswers {
  accepted: number;
  /** Rejections and deferrals for reputation or rate. */
  objections: number;
}

/** Learns from answers: a day of accepted mail raises the level, an objection lowers it and ends the hour. */
export function rampAfter(state: RampState, { accepted, objections }: RampAnswers, now: number): RampState {
  if (state.level >= WARM_LEVEL) return state;
  if (objections > 0) {
    // One objection an hour counts: those of one burst are one.
    const fresh = Math.abs(now - state.objectedAt) >= HOUR;
    const level = fresh ? Math.max(0, state.level - LEVELS_LOST) : state.level;
    return {
      ...state,
      level,
      levelAt: now,
      hour: hourOf(now),
      sent: hourlyLimit(level),
      objectedAt: fresh ? now : state.objectedAt,
    };
  }
  if (accepted === 0 || now - state.levelAt < DAY) return state;
  return { ...state, level: state.level + 1, levelAt: now };
}

const hourlyLimit = (level: number): number => BASE * 2 ** level;
const hourOf = (now: number): number => Math.floor(now / HOUR);
