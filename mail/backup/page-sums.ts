import { RecordReader, RecordWriter } from './record-codec.ts';

/** Octets of a hash of a page: SHA-256, cut off. A page is stored again if it has another hash than in the snapshot before. */
export const PAGE_HASH_OCTETS = 16;

/** Hashes of the pages in one pack, which follow each other. */
interface PackSums {
  /** Position of the first page. */
  start: number;
  hashes: Buffer;
  count: number;
}

/**
 * Hashes of stored pages, by pack and position. Each backup stores those of its own packs, so that what it moves grows
 * with what changed, not with the database.
 */
export class PageSums {
  readonly #packs = new Map<string, PackSums>();
  readonly #pageSize: number;

  constructor(pageSize: number) {
    this.#pageSize = pageSize;
  }

  /** Adds the next page of a pack. */
  add(pack: string, offset: number, hash: Buffer): void {
    let sums = this.#packs.get(pack);
    if (sums === undefined) {
      sums = { start: offset, hashes: Buffer.alloc(64 * PAGE_HASH_OCTETS), count: 0 };
      this.#packs.set(pack, sums);
    }
    const at = sums.count * PAGE_HASH_OCTETS;
    if (at === sums.hashes.length) sums.hashes = Buffer.concat([sums.hashes, Buffer.alloc(at)]);
    hash.copy(sums.hashes, at, 0, PAGE_HASH_OCTETS);
    sums.count++;
  }

  /** True if this page of a pack is known, and has the hash. */
  has(pack: string, offset: number, hash: Buffer): boolean {
    const sums = this.#packs.get(pack);
    if (sums === undefined) return false;
    const index = (offset - sums.start) / this.#pageSize;
    if (!Number.isInteger(index) || index < 0 || index >= sums.count) return false;
    const at = index * PAGE_HASH_OCTETS;
    return hash.compare(sums.hashes, at, at + PAGE_HASH_OCTETS, 0, PAGE_HASH_OCTETS) === 0;
  }

  write(): Buffer {
    const out = new RecordWriter();
    out.number(this.#packs.size);
    for (const [pack, { start, hashes, count }] of this.#packs) {
      out.text(pack);
      out.number(start);
      out.number(count);
      out.octets(hashes.subarray(0, count * PAGE_HASH_OCTETS));
    }
    return out.end();
  }

  /** Adds what another backup wrote. */
  read(octets: Buffer): void {
    const from = new RecordReader(octets);
    for (let left = from.number(); left > 0; left--) {
      const [pack, start, count] = [from.text(), from.number(), from.number()];
      this.#packs.set(pack, { start, count, hashes: from.octets(count * PAGE_HASH_OCTETS) });
    }
  }
}
