/** A file in an archive that a test makes. */
interface Packed {
  name: string;
  /** Its octets as they stand in the archive. */
  data?: Buffer;
  locked?: boolean;
}

interface Made {
  /** Its directory needs a password. */
  locked?: boolean;
}

/** A RAR file of versions 1.5 to 4. `unicode`: by name, what follows the plain name after a zero. */
export function oldRar(files: readonly Packed[], { locked = false }: Made = {}, unicode?: Buffer): Buffer {
  const block = (type: number, flags: number, rest: Buffer): Buffer => {
    const head = Buffer.alloc(7);
    head.writeUInt8(type, 2);
    head.writeUInt16LE(flags, 3);
    head.writeUInt16LE(7 + rest.length, 5);
    return Buffer.concat([head, rest]);
  };
  const each = files.map(({ name, data = Buffer.alloc(0), locked: own = false }) => {
    const told = Buffer.concat([
      Buffer.from(name, 'latin1'),
      ...(unicode === undefined ? [] : [Buffer.alloc(1), unicode]),
    ]);
    const fields = Buffer.alloc(25);
    fields.writeUInt32LE(data.length, 0);
    fields.writeUInt16LE(told.length, 19);
    const flags = 0x8000 + (own ? 4 : 0) + (unicode === undefined ? 0 : 0x200);
    return Buffer.concat([block(0x74, flags, Buffer.concat([fields, told])), data]);
  });
  const main = block(0x73, locked ? 0x80 : 0, Buffer.alloc(6));
  return Buffer.concat([Buffer.from('Rar!\x1a\x07\0', 'latin1'), main, ...each, block(0x7b, 0x4000, Buffer.alloc(0))]);
}

/** A RAR 5 file. */
export function newRar(files: readonly Packed[], { locked = false }: Made = {}): Buffer {
  const block = (...numbers: readonly (number | Buffer)[]): Buffer => {
    const rest = Buffer.concat(numbers.map((one) => (typeof one === 'number' ? varint(one) : one)));
    return Buffer.concat([Buffer.alloc(4), varint(rest.length), rest]);
  };
  const each = files.map(({ name, data = Buffer.alloc(0), locked: own = false }) => {
    const told = Buffer.from(name);
    const extra = own ? Buffer.from([3, 2, 0, 0, 2, 1, 0]) : Buffer.alloc(0);
    const sizes = own ? [3, extra.length] : [2];
    const head = block(2, ...sizes, data.length, 2, data.length, 0, Buffer.alloc(4), 0, 0, told.length, told, extra);
    return Buffer.concat([head, data]);
  });
  const before = locked ? [block(4, 0, 0, 0)] : [];
  return Buffer.concat([
    Buffer.from('Rar!\x1a\x07\x01\0', 'latin1'),
    ...before,
    block(1, 0, 0),
    ...each,
    block(5, 0, 0),
  ]);
}

/** A 7z file whose directory is not packed; `locked`: its files are. */
export function sevenZip(names: readonly string[], { locked = false }: Made = {}): Buffer {
  const coder = locked ? [0x24, 0x06, 0xf1, 0x07, 0x01, 1, 0] : [0x01, 0x00];
  const told = Buffer.concat([Buffer.alloc(1), ...names.map((name) => Buffer.from(`${name}\0`, 'utf16le'))]);
  const size = 5 * names.length;
  const streams = [0x01, 0x04, 0x06, 0, 1, 0x09, ...number(size), 0];
  const folders = [0x07, 0x0b, 1, 0, 1, ...coder, 0x0c, ...number(size), 0x0a, 1, 1, 2, 3, 4, 0];
  const parts = [0x08, 0x0d, ...number(names.length), 0x09, ...names.slice(1).map(() => 5)];
  const sums = names.length > 1 ? [0x0a, 1, ...names.flatMap(() => [1, 2, 3, 4])] : [];
  const files = [0, 0, 0x05, ...number(names.length), 0x11, ...number(told.length), ...told, 0, 0];
  return sevenZipWith(Buffer.alloc(size), [...streams, ...folders, ...parts, ...sums, ...files]);
}

/** A 7z file whose directory is packed; `locked`: with a password. */
export function packedSevenZip({ locked = false }: Made = {}): Buffer {
  const coder = locked ? [0x24, 0x06, 0xf1, 0x07, 0x01, 1, 0] : [0x23, 0x03, 0x01, 0x01, 1, 0];
  const streams = [0x06, 0, 1, 0x09, 20, 0, 0x07, 0x0b, 1, 0, 1, ...coder, 0x0c, 40, 0, 0];
  return sevenZipWith(Buffer.alloc(20), [0x17, ...streams]);
}

/** A 7z file with this directory behind its data. */
export function sevenZipWith(data: Buffer, directory: readonly number[] | Buffer): Buffer {
  const head = Buffer.alloc(32);
  Buffer.from('377abcaf271c', 'hex').copy(head);
  head.writeUInt32LE(data.length, 12);
  head.writeUInt32LE(directory.length, 20);
  return Buffer.concat([head, data, Buffer.from(directory)]);
}

/** Of up to 14 bits, as 7z writes numbers. */
function number(value: number): number[] {
  return value < 128 ? [value] : [0x80 | (value >> 8), value & 255];
}

function varint(value: number): Buffer {
  const octets: number[] = [];
  for (let left = value; octets.length === 0 || left > 0; left = Math.floor(left / 128))
    octets.push((left % 128) | (left > 127 ? 128 : 0));
  return Buffer.from(octets);
}
