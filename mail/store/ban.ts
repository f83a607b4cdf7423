import { command, query } from './engine/types.ts';

/** What a network did too much of. */
export interface Offender {
  /** An IPv4 address, or an IPv6 /64. */
  network: string;
  offence: string;
  /** How many of them in a day. */
  count: number;
}

/** A network that is shut out. Times in ms UTC. */
export interface Ban extends Offender {
  /** How often it was shut out within a month of the time before, this time included. */
  times: number;
  since: number;
  until: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** No longer than a day: a mail server may stand there, whose mail waits for days and no longer. RFC 5321 4.5.4.1. */
const LASTS_MS = [15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS] as const;
/** How long it is remembered that a ban is over. */
const REMEMBER_MS = 30 * DAY_MS;
export const MOST_BANS = 100_000;
/** Rows of one slice. */
const SLICE = 500;

/** How long the next ban lasts, in ms. */
export function banLasts(times: number): number {
  return LASTS_MS[Math.min(times, LASTS_MS.length) - 1] ?? LASTS_MS[0];
}

/** A ban of somebody of whom nothing is known. */
export function firstBan(offender: Offender, now: number): Ban {
  return { ...offender, times: 1, since: now, until: now + banLasts(1) };
}

/** Shuts a network out, longer each time. One that is shut out already stays so, for as long as it was. */
export const addBan = command('add-ban', async (tx, offender: Offender, { now }): Promise<Ban> => {
  const { network, offence, count } = offender;
  const before = await tx.get<Row>('SELECT * FROM ban WHERE network = ?', network);
  if (before !== undefined && before.until > now) return shown(before);
  const times = before !== undefined && before.until > now - REMEMBER_MS ? before.times + 1 : 1;
  const until = now + banLasts(times);
  await tx.run(
    `INSERT INTO ban (network, offence, count, times, since, until) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (network) DO UPDATE SET offence = excluded.offence, count = excluded.count, times = excluded.times,
       since = excluded.since, until = excluded.until`,
    network,
    offence,
    count,
    times,
    now,
    until,
  );
  return { network, offence, count, times, since: now, until };
});

/** Lifts a ban, and forgets that there was one. */
export const removeBan = command(
  'remove-ban',
  async (tx, { network }: { network: string }): Promise<{ kind: 'removed' | 'missing' }> => {
    const { changes } = await tx.run('DELETE FROM ban WHERE network = ?', network);
    return { kind: changes > 0 ? 'removed' : 'missing' };
  },
);

/** Forgets a slice of bans that are long over, and of those beyond the most that are kept, the soonest over first. */
export const forgetBans = command('forget-bans', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const over = await tx.run(
    'DELETE FROM ban WHERE id IN (SELECT id FROM ban WHERE until <= ? LIMIT ?)',
    now - REMEMBER_MS,
    SLICE,
  );
  const excess = await tx.run(
    `DELETE FROM ban WHERE id IN (
       SELECT id FROM ban ORDER BY until LIMIT min(?1, max(0, (SELECT count(*) FROM ban) - ?2)))`,
    SLICE,
    MOST_BANS,
  );
  return over.changes === SLICE || excess.changes === SLICE;
});

type Row = { id: number; network: string; offence: string; count: number; times: number; since: number; until: number };

/** Bans that hold, in the order in which the networks were first shut out, from after `after`. */
export const listBans = query(
  'list-bans',
  (rx, { after, limit, now }: { after: number; limit: number; now: number }): Promise<(Ban & { id: number })[]> =>
    rx.all<Row>('SELECT * FROM ban WHERE id > ? AND until > ? ORDER BY id LIMIT ?', after, now, limit),
);

function shown({ id: _, ...ban }: Row): Ban {
  return ban;
}
