import type { FolderStay } from './copy-queries.ts';

/** A change of folders of one copy. */
export interface FolderMove {
  /** ms UTC. */
  at: number;
  address: string;
  kind: 'moved' | 'copied' | 'deleted';
  from: string;
  to: string;
}

/**
 * Moves, copies and deletions, by when copies left and reached folders. `arrived`: time of the delivery, which is no move.
 * Quadratic in the stays, of which there are at most 100.
 */
export function folderMoves(stays: readonly FolderStay[], arrived: number): FolderMove[] {
  const here = stays.filter(({ until }) => until === null);
  const reached = new Set<FolderStay>();
  const left = stays.flatMap((stay): FolderMove[] => {
    const { until: at, address, folder: from } = stay;
    if (at === null) return [];
    const next = here.find((one) => one.email === stay.email && one.since === at && !reached.has(one));
    if (next === undefined) return [{ at, address, kind: 'deleted', from, to: '' }];
    reached.add(next);
    return [{ at, address, kind: 'moved', from, to: next.folder }];
  });
  const copied = here.flatMap((stay): FolderMove[] =>
    stay.since === null || stay.since <= arrived || reached.has(stay)
      ? []
      : [{ at: stay.since, address: stay.address, kind: 'copied', from: '', to: stay.folder }],
  );
  return [...left, ...copied].toSorted((a, b) => a.at - b.at);
}
