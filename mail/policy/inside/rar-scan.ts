import type { Inside } from '../sample.ts';
import { MOST_HEADER, newBlock, oldBlock, type RarBlock } from './rar-blocks.ts';

const OLD = Buffer.from('Rar!\x1a\x07\0', 'latin1');
const NEW = Buffer.from('Rar!\x1a\x07\x01\0', 'latin1');
const MOST_NAMES = 200;
/** Headers of one file that are read; those of an archive with very many small files take time and tell nothing more. */
const MOST_BLOCKS = 2_000;

/** Whether a file begins as a RAR archive, of any version since 1.5. */
export function isRar(head: Buffer): boolean {
  return [OLD, NEW].some((mark) => head.subarray(0, mark.length).equals(mark));
}

/** Reads the headers between the files of a RAR archive as they go by; nothing is unpacked. */
export class RarScan {
  #held = Buffer.alloc(0);
  #block: ((octets: Buffer) => RarBlock | undefined) | undefined;
  /** Data of a file that has not gone by yet. */
  #skip = 0;
  #blocks = 0;
  #isOver = false;
  readonly #names: string[] = [];
  #locked = false;

  push(piece: Buffer): void {
    let rest = piece;
    while (rest.length > 0 && !this.#isOver) {
      const passed = Math.min(this.#skip, rest.length);
      this.#skip -= passed;
      // What is held is at most one header: a piece may be large.
      const taken = rest.subarray(passed, passed + MOST_HEADER);
      rest = rest.subarray(passed + taken.length);
      this.#held = Buffer.concat([this.#held, taken]);
      this.#read();
    }
  }

  /** Undefined where it had no header that can be read. */
  end(): Inside | undefined {
    if (this.#blocks === 0) return undefined;
    return { names: this.#names, locked: this.#locked, macros: false };
  }

  #read(): void {
    try {
      while (!this.#isOver && this.#one());
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#isOver = true;
    }
    if (this.#held.length > 2 * MOST_HEADER) this.#isOver = true;
    if (this.#isOver) this.#held = Buffer.alloc(0);
  }

  /** Takes one header off what is held; false when there is no whole one. */
  #one(): boolean {
    if (this.#block === undefined) return this.#begin();
    const block = this.#block(this.#held);
    if (block === undefined) return false;
    const { header, data, names, locked, last } = block;
    this.#names.push(...names.slice(0, MOST_NAMES - this.#names.length));
    this.#locked ||= locked;
    this.#blocks++;
    this.#isOver = last || this.#blocks >= MOST_BLOCKS || this.#names.length >= MOST_NAMES;
    const end = header + data;
    this.#skip = Math.max(0, end - this.#held.length);
    this.#held = this.#held.subarray(Math.min(end, this.#held.length));
    return this.#skip === 0;
  }

  #begin(): boolean {
    if (this.#held.length < NEW.length) return false;
    this.#isOver = !isRar(this.#held);
    if (this.#isOver) return false;
    const isNew = this.#held.subarray(0, NEW.length).equals(NEW);
    this.#block = isNew ? newBlock : oldBlock;
    this.#held = this.#held.subarray(isNew ? NEW.length : OLD.length);
    return true;
  }
}
