import { LOG_KEPT_MS } from './log-segments.ts';
import type { Repository, SnapshotManifest } from './repository.ts';

/** Snapshots that are kept: the newest of each of so many hours, days, weeks and months that have one. */
export interface BackupRetention {
  hourly: number;
  daily: number;
  weekly: number;
  monthly: number;
}

const DAY_MS = 24 * 3_600_000;
/** A younger snapshot is kept whatever the numbers; younger packs without a manifest may belong to a backup that runs. */
export const KEPT_AGE_MS = DAY_MS;

const PERIODS: readonly [keyof BackupRetention, (at: Date) => string][] = [
  ['hourly', (at) => at.toISOString().slice(0, 13)],
  ['daily', (at) => at.toISOString().slice(0, 10)],
  // Weeks begin on Monday: day 0, 1970-01-01, was a Thursday.
  ['weekly', (at) => String(Math.floor((at.getTime() / DAY_MS + 3) / 7))],
  ['monthly', (at) => at.toISOString().slice(0, 7)],
];

/** Snapshots to remove. The newest one always stays. */
export function expiredSnapshots<T extends Pick<SnapshotManifest, 'at'>>(
  snapshots: readonly T[],
  retention: BackupRetention,
  now: number,
): T[] {
  const newestFirst = snapshots.toSorted((a, b) => b.at - a.at);
  const kept = new Set(newestFirst.filter((one, i) => i === 0 || now - one.at < KEPT_AGE_MS));
  for (const [period, nameOf] of PERIODS) {
    const seen = new Set<string>();
    for (const one of newestFirst) {
      const name = nameOf(new Date(one.at));
      if (seen.has(name) || seen.size >= retention[period]) continue;
      seen.add(name);
      kept.add(one);
    }
  }
  return newestFirst.filter((one) => !kept.has(one));
}

/** Removes expired snapshots, and packs that no other one needs. Returns the number of snapshots removed. */
export async function removeExpired(repository: Repository, retention: BackupRetention, now: number): Promise<number> {
  const all = await repository.manifests();
  const expired = expiredSnapshots(all, retention, now);
  const { target } = repository;
  await removeLogs(repository, all, expired, now);
  // Manifests first: one whose packs are gone would look like a backup.
  for (const { id } of expired) await target.remove(`snapshots/${id}`);
  const gone = new Set(expired.map(({ id }) => id));
  const needed = new Set<string>();
  for (const manifest of all.filter(({ id }) => !gone.has(id))) {
    needed.add(`maps/${manifest.id}`).add(`sums/${manifest.id}`);
    for (const { name } of (await repository.map(manifest)).packs) {
      needed.add(name).add(name.replace(/^packs\/(.*)-\d+$/, 'sums/$1'));
    }
  }
  const objects = [...(await target.list('packs/')), ...(await target.list('maps/')), ...(await target.list('sums/'))];
  for (const { name } of objects) {
    if (!needed.has(name) && now - timeOf(name) >= KEPT_AGE_MS) await target.remove(name);
  }
  return expired.length;
}

/** Removes logs of expired snapshots, and of old ones but the newest. Before the snapshots: those are whole without them. */
async function removeLogs(
  { target }: Repository,
  all: readonly SnapshotManifest[],
  expired: readonly SnapshotManifest[],
  now: number,
): Promise<void> {
  const newest = all.toSorted((a, b) => b.at - a.at)[0]?.id;
  const old = all.filter(({ id, at }) => id !== newest && now - at >= LOG_KEPT_MS);
  for (const { id } of new Set([...old, ...expired])) {
    for (const { name } of await target.list(`log/${id}/`)) await target.remove(name);
  }
}

/** Time in the name of an object, such as `packs/20261123t081203123z-1a2b3c4d-0`. A foreign name is never old. */
function timeOf(name: string): number {
  const [, year, month, day, hour, minute, second] =
    /\/(\d{4})(\d\d)(\d\d)t(\d\d)(\d\d)(\d\d)\d{3}z-/.exec(name)?.map(Number) ?? [];
  if (year === undefined || month === undefined) return Infinity;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
