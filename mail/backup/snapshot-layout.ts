import type { PageSums } from './page-sums.ts';
import type { FileEntry, PackEntry, PageRun, SnapshotMap } from './snapshot-map.ts';

/** Collects where each page is stored; pages come in their order. */
export class PageRuns {
  readonly runs: PageRun[] = [];
  readonly #pageSize: number;

  constructor(pageSize: number) {
    this.#pageSize = pageSize;
  }

  add(page: number, pack: number, offset: number): void {
    const last = this.runs.at(-1);
    const follows =
      last !== undefined &&
      last.pack === pack &&
      last.page + last.count === page &&
      last.offset + last.count * this.#pageSize === offset;
    if (follows) last.count++;
    else this.runs.push({ page, count: 1, pack, offset });
  }
}

/** Finds pages of the snapshot before that did not change. Pages are asked for in ascending order. */
export class StoredPages {
  readonly #map: SnapshotMap;
  readonly #sums: PageSums;
  #run = 0;

  constructor(map: SnapshotMap, sums: PageSums) {
    this.#map = map;
    this.#sums = sums;
  }

  /** Place of the page if it has the same hash. */
  find(page: number, hash: Buffer): { pack: number; offset: number } | undefined {
    const { runs, pageSize, packs } = this.#map;
    for (let run = runs[this.#run]; run !== undefined; run = runs[++this.#run]) {
      if (page < run.page) return undefined;
      if (page >= run.page + run.count) continue;
      const offset = run.offset + (page - run.page) * pageSize;
      return this.#sums.has(packs[run.pack]?.name ?? '', offset, hash) ? { pack: run.pack, offset } : undefined;
    }
    return undefined;
  }
}

/** The same map without packs that nothing refers to. */
export function withoutUnusedPacks(map: SnapshotMap): SnapshotMap {
  const used = new Set<number>(map.runs.map(({ pack }) => pack));
  for (const { ranges } of [...map.files, ...map.extras]) for (const { pack } of ranges) used.add(pack);
  const numbers = new Map<number, number>();
  const packs: PackEntry[] = [];
  for (const [number, pack] of map.packs.entries()) if (used.has(number)) numbers.set(number, packs.push(pack) - 1);
  const moved = <T extends { pack: number }>(one: T): T => ({ ...one, pack: numbers.get(one.pack) ?? 0 });
  const movedFile = (file: FileEntry): FileEntry => ({ ...file, ranges: file.ranges.map(moved) });
  return {
    ...map,
    packs,
    runs: map.runs.map(moved),
    files: map.files.map(movedFile),
    extras: map.extras.map(movedFile),
  };
}
