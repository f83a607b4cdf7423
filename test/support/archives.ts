import { crc32, deflateRawSync } from 'node:zlib';

interface Packed {
  name: string;
  data: Buffer;
  /** APPNOTE 4.4.5; left out: deflate. */
  method?: number;
  /** It says that it has a password. */
  locked?: true;
  /** The directory leaves it out. */
  unlisted?: true;
  /** Its sizes stand behind it. */
  streamed?: true;
  /** Its data as it is packed; left out: deflated. */
  packed?: Buffer;
}

/** A zip archive. APPNOTE 4.3. */
export function zipOf(files: readonly Packed[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const file of files) {
    const packed = file.packed ?? (file.method === 0 ? file.data : deflateRawSync(file.data));
    const local = localOf(file, packed);
    if (file.unlisted !== true) directory.push(entryOf(file, packed, at));
    parts.push(local);
    at += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, listed, end]);
}

function localOf(file: Packed, packed: Buffer): Buffer {
  const head = Buffer.alloc(30);
  head.write('PK\x03\x04', 'latin1');
  head.set(factsOf(file, file.streamed === true ? undefined : packed), 4);
  if (file.streamed === true) head.writeUInt16LE(8, 6);
  const descriptor = file.streamed === true ? [Buffer.from('PK\x07\x08', 'latin1'), sizesOf(file, packed)] : [];
  return Buffer.concat([head, Buffer.from(file.name), packed, ...descriptor]);
}

function entryOf(file: Packed, packed: Buffer, at: number): Buffer {
  const head = Buffer.alloc(46);
  head.write('PK\x01\x02', 'latin1');
  head.set(factsOf(file, packed), 6);
  head.writeUInt32LE(at, 42);
  return Buffer.concat([head, Buffer.from(file.name)]);
}

/** From the version that is needed to the length of the name. */
function factsOf(file: Packed, packed: Buffer | undefined): Buffer {
  const facts = Buffer.alloc(24);
  facts.writeUInt16LE(20, 0);
  facts.writeUInt16LE(file.locked === true ? 1 : 0, 2);
  facts.writeUInt16LE(file.method ?? 8, 4);
  if (packed !== undefined) facts.set(sizesOf(file, packed), 10);
  facts.writeUInt16LE(Buffer.byteLength(file.name), 22);
  return facts;
}

function sizesOf({ data }: Packed, packed: Buffer): Buffer {
  const sizes = Buffer.alloc(12);
  sizes.writeUInt32LE(crc32(data), 0);
  sizes.writeUInt32LE(packed.length, 4);
  sizes.writeUInt32LE(data.length, 8);
  return sizes;
}

/** A tar archive. POSIX.1 ustar. */
export function tarOf(files: readonly Pick<Packed, 'name' | 'data'>[]): Buffer {
  const parts = files.flatMap(({ name, data }) => {
    const head = Buffer.alloc(512);
    head.write(name, 0, 100);
    head.write(data.length.toString(8).padStart(11, '0'), 124);
    head.write('ustar\x0000', 257);
    return [head, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}
