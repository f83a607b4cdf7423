import { command, lookup } from '../engine/types.ts';

/** An offense of a network. */
export interface Offender {
  /** IPv4 address or IPv6 /64. */
  network: string;
  offence: string;
  /** Number of offenses in a day. */
  count: number;
}

/** A blocked network. Times in ms UTC. */
export interface Ban extends Offender {
  /** Number of bans within a month of the previous one, including this one. */
  times: number;
  since: number;
  until: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** At most a day: a mail server in the network retries for days. RFC 5321 4.5.4.1. */
const BAN_DURATIONS_MS = [15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS] as const;
/** Time for which an expired ban counts towards the next one. */
const BAN_HISTORY_MS = 30 * DAY_MS;
export const MAX_BANS = 100_000;
/** Rows of one slice. */
const SLICE = 500;

/** Duration of the next ban, ms. */
export function banDuration(times: number): number {
  return BAN_DURATIONS_MS[Math.min(times, BAN_DURATIONS_MS.length) - 1] ?? BAN_DURATIONS_MS[0];
}

/** The first ban of a network. */
export function firstBan(offender: Offender, now: number): Ban {
  return { ...offender, times: 1, since: now, until: now + banDuration(1) };
}

/** Bans a network, longer each time. An active ban stays unchanged. */
export const addBan = command('add-ban', async (tx, offender: Offender, { now }): Promise<Ban> => {
  const { network, offence, count } = offender;
  const before = await tx.get<Row>('SELECT * FROM ban WHERE network = ?', network);
  if (before !== undefined && before.until > now) return toBan(before);
  const times = before !== undefined && before.until > now - BAN_HISTORY_MS ? before.times + 1 : 1;
  const until = now + banDuration(times);
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

/** Removes a ban with its history. */
export const removeBan = command(
  'remove-ban',
  async (tx, { network }: { network: string }): Promise<{ kind: 'removed' | 'missing' }> => {
    const { changes } = await tx.run('DELETE FROM ban WHERE network = ?', network);
    return { kind: changes > 0 ? 'removed' : 'missing' };
  },
);

/** Purges a slice of bans whose history expired, and of those above MAX_BANS, the soonest to expire first. */
export const purgeBans = command('purge-bans', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const over = await tx.run(
    'DELETE FROM ban WHERE id IN (SELECT id FROM ban WHERE until <= ? LIMIT ?)',
    now - BAN_HISTORY_MS,
    SLICE,
  );
  const excess = await tx.run(
    `DELETE FROM ban WHERE id IN (
       SELECT id FROM ban ORDER BY until LIMIT min(?1, max(0, (SELECT count(*) FROM ban) - ?2)))`,
    SLICE,
    MAX_BANS,
  );
  return over.changes === SLICE || excess.changes === SLICE;
});

type Row = { id: number; network: string; offence: string; count: number; times: number; since: number; until: number };

/** Active bans by id, after `after`. */
export const listBans = lookup(
  'list-bans',
  (rx, { after, limit, now }: { after: number; limit: number; now: number }): Promise<(Ban & { id: number })[]> =>
    rx.all<Row>('SELECT * FROM ban WHERE id > ? AND until > ? ORDER BY id LIMIT ?', after, now, limit),
);

function toBan({ id: _, ...ban }: Row): Ban {
  return ban;
}
