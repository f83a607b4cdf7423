import type { Repository } from './repository.ts';

/** Logs of snapshots that are older are removed. */
export const LOG_KEPT_MS = 48 * 3_600_000;

/** Commits between the segment before, or the snapshot, and a moment. */
export interface LogSegment {
  /** Name of its map; its octets are in packs. */
  name: string;
  /** From 1, without a gap. */
  sequence: number;
  /** All that was committed before is in it, and nothing later. ms UTC. */
  at: number;
}

/** Name of a segment in the log of a snapshot. */
export function segmentName(snapshot: string, sequence: number, at: number): string {
  return `log/${snapshot}/${String(sequence).padStart(8, '0')}-${String(at).padStart(15, '0')}`;
}

/**
 * Segments that follow a snapshot, up to a time, each from the state of the one before. A segment that had to be stored
 * again is there twice with one sequence; the next one continues the last of them.
 */
export async function segmentsOf(repository: Repository, snapshot: string, until = Infinity): Promise<LogSegment[]> {
  const bySequence = new Map<number, LogSegment>();
  for (const { name } of await repository.target.list(`log/${snapshot}/`)) {
    const [, sequence, at] = /\/(\d{8})-(\d{15})$/.exec(name)?.map(Number) ?? [];
    if (sequence === undefined || at === undefined || at > until) continue;
    if (at > (bySequence.get(sequence)?.at ?? -1)) bySequence.set(sequence, { name, sequence, at });
  }
  const chain: LogSegment[] = [];
  for (let next = bySequence.get(1); next !== undefined; next = bySequence.get(next.sequence + 1)) chain.push(next);
  return chain;
}
