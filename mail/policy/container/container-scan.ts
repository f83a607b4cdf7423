import { zipDirectory } from '../../message/archive/zip.ts';
import type { ContainerContents } from '../sample.ts';

/** Octets at the end that are buffered: the zip directory, and the comment of up to 64 KiB after it. */
const TAIL = 192 * 1024;
/** MS-CFB 2.6: a directory entry of a compound file begins with its name in UTF-16 and has 128 octets. */
const ENTRY = 128;
const COMPOUND = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const MACROS = Buffer.from('_VBA_PROJECT\0', 'utf16le');
const LOCKED = Buffer.from('EncryptedPackage\0', 'utf16le');
const ZIP = [Buffer.from('PK\x03\x04', 'latin1'), Buffer.from('PK\x05\x06', 'latin1')];
/** 7z, and RAR since 1.5: they cannot be inspected. */
const OPAQUE = [Buffer.from('377abcaf271c', 'hex'), Buffer.from('Rar!\x1a\x07', 'latin1')];
/** Length of the longest signature. */
const HEAD = COMPOUND.length;

/** Recognizes zip with all office documents of today, compound files, RAR and 7z by their first octets. */
export function isContainer(head: Buffer): boolean {
  return startsWithAny(head, [...ZIP, COMPOUND, ...OPAQUE]);
}

function startsWithAny(head: Buffer, signatures: readonly Buffer[]): boolean {
  return signatures.some((signature) => head.subarray(0, signature.length).equals(signature));
}

/** Streaming scan of an archive for its directory: one pass, and only the end is buffered. */
export class ContainerScan {
  #tail = Buffer.alloc(0);
  #head = Buffer.alloc(0);
  #length = 0;
  #macros = false;
  #locked = false;

  push(piece: Buffer): void {
    if (this.#head.length < HEAD) this.#head = Buffer.concat([this.#head, piece.subarray(0, HEAD)]);
    const seen = this.#tail.length;
    const joined = Buffer.concat([this.#tail, piece]);
    if (startsWithAny(this.#head, [COMPOUND])) {
      const from = Math.max(0, seen - LOCKED.length);
      const base = this.#length - seen;
      this.#macros ||= hasEntry(joined, MACROS, from, base);
      this.#locked ||= hasEntry(joined, LOCKED, from, base);
    }
    this.#length += piece.length;
    this.#tail = joined.subarray(Math.max(0, joined.length - TAIL));
  }

  end(): ContainerContents | undefined {
    if (startsWithAny(this.#head, [COMPOUND])) return { names: [], locked: this.#locked, macros: this.#macros };
    if (startsWithAny(this.#head, OPAQUE)) return { names: [], locked: false, macros: false, opaque: true };
    const entries = zipDirectory(this.#tail);
    if (entries === undefined) return undefined;
    const names = entries.map(({ name }) => name);
    return {
      names,
      locked: entries.some(({ locked }) => locked),
      macros: names.some((name) => /(?:^|\/)vbaProject\.bin$/i.test(name)),
    };
  }
}

/** Finds a directory entry; `base` is the offset of the first octet in the file. */
function hasEntry(octets: Buffer, name: Buffer, from: number, base: number): boolean {
  for (let at = octets.indexOf(name, from); at >= 0; at = octets.indexOf(name, at + 2)) {
    if ((base + at) % ENTRY === 0) return true;
  }
  return false;
}
