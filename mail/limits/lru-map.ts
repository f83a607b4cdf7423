import { LRUCache } from 'lru-cache';

/**
 * Creates a map of at most `entries` entries that evicts the least recently used one. It grows as it is filled: with the
 * library's `max` each map would allocate 28 octets an entry at once, 20 MB for all maps of the process. `life`: entries end
 * after a time to live.
 */
export function lruMap<K extends {}, V extends {}>(entries: number, life?: EntryLife): LRUCache<K, V> {
  return new LRUCache({
    maxSize: entries,
    sizeCalculation: () => 1,
    ...(life && { ttl: life.ms, ...timedBy(life.now) }),
  });
}

/** Time to live of the entries of a map. */
interface EntryLife {
  ms: number;
  /** Monotonic clock, ms. */
  now: () => number;
}

/**
 * Options of a cache whose entries have a time to live, in milliseconds of `now`. Adds 1 because the library treats time 0,
 * where test clocks begin, as unset; `ttlResolution: 0` makes it read the clock at each access.
 */
export function timedBy(now: () => number): { perf: { now: () => number }; ttlResolution: number } {
  return { perf: { now: () => now() + 1 }, ttlResolution: 0 };
}

/** Deletes the least recently used entries for as long as they are stale. */
export function deleteStale<K extends {}, V extends {}>(map: LRUCache<K, V>, isStale: (value: V) => boolean): void {
  for (let [oldest] = map.rvalues(); oldest !== undefined && isStale(oldest); [oldest] = map.rvalues()) map.pop();
}

/** Deletes every entry that matches. Linear in the size of the map. */
export function deleteWhere<K extends {}, V extends {}>(
  map: LRUCache<K, V>,
  matches: (value: V, key: K) => boolean,
): void {
  for (const [key, value] of map.entries()) if (matches(value, key)) map.delete(key);
}
