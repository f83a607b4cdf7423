import type { Inside } from '../sample.ts';
import { isRar, RarScan } from './rar-scan.ts';
import { isSevenZip, SEVEN_HEAD, sevenZipDirectory } from './seven-zip.ts';
import { zipDirectory } from './zip-directory.ts';

/** Octets of the end that are kept: the directory of an archive, and the comment of up to 64 KiB behind it. */
const TAIL = 192 * 1024;
/** MS-CFB 2.6: a directory entry of a compound file begins with its name in UTF-16 and has 128 octets. */
const ENTRY = 128;
const COMPOUND = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const MACROS = Buffer.from('_VBA_PROJECT\0', 'utf16le');
const LOCKED = Buffer.from('EncryptedPackage\0', 'utf16le');

/**
 * Whether what begins so has a directory that can be read: zip with all office documents of today, a compound file, RAR or
 * 7z.
 */
export function isContainer(head: Buffer): boolean {
  const isZip = /^PK(?:\x03\x04|\x05\x06)/.test(head.toString('latin1', 0, 4));
  return isZip || isCompound(head) || isRar(head) || isSevenZip(head);
}

function isCompound(head: Buffer): boolean {
  return head.subarray(0, COMPOUND.length).equals(COMPOUND);
}

/** Looks for the directory in the octets of a file as they go by: one pass, and only the end of it is kept. */
export class ContainerScan {
  #tail = Buffer.alloc(0);
  #head = Buffer.alloc(0);
  readonly #rar = new RarScan();
  #length = 0;
  #compound: boolean | undefined;
  #macros = false;
  #locked = false;

  push(piece: Buffer): void {
    this.#compound ??= isCompound(piece);
    if (this.#head.length < SEVEN_HEAD) this.#head = Buffer.concat([this.#head, piece.subarray(0, SEVEN_HEAD)]);
    this.#rar.push(piece);
    const seen = this.#tail.length;
    const joined = Buffer.concat([this.#tail, piece]);
    if (this.#compound) {
      const from = Math.max(0, seen - LOCKED.length);
      const base = this.#length - seen;
      this.#macros ||= hasEntry(joined, MACROS, from, base);
      this.#locked ||= hasEntry(joined, LOCKED, from, base);
    }
    this.#length += piece.length;
    this.#tail = joined.subarray(Math.max(0, joined.length - TAIL));
  }

  end(): Inside | undefined {
    if (this.#compound === true) return { names: [], locked: this.#locked, macros: this.#macros };
    if (isRar(this.#head)) return this.#rar.end();
    if (isSevenZip(this.#head)) return sevenZipDirectory(this.#head, this.#tail, this.#length);
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

/** `base` is the place of the first octet in the file. */
function hasEntry(octets: Buffer, name: Buffer, from: number, base: number): boolean {
  for (let at = octets.indexOf(name, from); at >= 0; at = octets.indexOf(name, at + 2)) {
    if ((base + at) % ENTRY === 0) return true;
  }
  return false;
}
