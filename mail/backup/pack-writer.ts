import type { Repository } from './repository.ts';
import type { PackEntry, PackRange } from './snapshot-map.ts';

/** Octets of a pack before it is compressed. One object and one flush for each. */
export const PACK_OCTETS = 8 * 1024 * 1024;

/** Collects octets into packs and stores each when it is full. */
export class PackWriter {
  readonly #repository: Repository;
  readonly #packs: PackEntry[];
  readonly #nameOf: (number: number) => string;
  readonly #buffer = Buffer.allocUnsafe(PACK_OCTETS);
  #length = 0;
  /** Octets that were stored. */
  stored = 0;
  /** Names of the packs that this writer stored. */
  readonly names: string[] = [];

  /** `packs`: those of the snapshot before; new ones are added at its end. */
  constructor(repository: Repository, packs: PackEntry[], nameOf: (number: number) => string) {
    this.#repository = repository;
    this.#packs = packs;
    this.#nameOf = nameOf;
  }

  /** Adds octets that must not be divided, at most {@link PACK_OCTETS}. */
  async add(octets: Buffer): Promise<PackRange> {
    if (this.#length + octets.length > PACK_OCTETS) await this.flush();
    return this.#append(octets);
  }

  /** Adds octets that may be divided between packs. */
  async addDivisible(octets: Buffer): Promise<PackRange[]> {
    const ranges: PackRange[] = [];
    for (let at = 0; at < octets.length;) {
      if (this.#length === PACK_OCTETS) await this.flush();
      const part = octets.subarray(at, at + PACK_OCTETS - this.#length);
      ranges.push(this.#append(part));
      at += part.length;
    }
    return ranges;
  }

  #append(octets: Buffer): PackRange {
    octets.copy(this.#buffer, this.#length);
    const range = { pack: this.#packs.length, offset: this.#length, length: octets.length };
    this.#length += octets.length;
    return range;
  }

  /** Name of the pack that the next octets go to, if there is room. */
  get current(): string {
    return this.#nameOf(this.names.length);
  }

  /** Stores the last pack. */
  async flush(): Promise<void> {
    if (this.#length === 0) return;
    const name = this.#nameOf(this.names.length);
    // Before the pack is stored: a failed backup removes it, whatever became of it.
    this.names.push(name);
    const size = await this.#repository.putPack(name, this.#buffer.subarray(0, this.#length));
    this.#packs.push({ name, size });
    this.stored += size;
    this.#length = 0;
  }
}
