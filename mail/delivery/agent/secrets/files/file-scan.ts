import { decodeCharset } from '../../../../message/decode.ts';
import { printable } from '../printable.ts';
import type { SecretScan } from '../scan.ts';
import { fileKind } from './kind.ts';
import { isDeflated, MOST_DIGITS, pdfOctets, type PdfStream, pdfStreams, pdfStrings } from './pdf.ts';
import { tarFiles } from './tar.ts';
import { type Packing, unfold } from './unfold.ts';
import { nextZipFile, type ZipFile } from './zip.ts';

/** The text of a document as its reader would read it; undefined: it could not be read. */
export type ReadDocument = (octets: Buffer) => Promise<string | undefined>;

/** Files inside each other that are opened: an archive, one in it, and a compressed tar counts as two. */
const DEEPEST = 3;
/** Octets of one message that files are unfolded to, and that are read for it. */
const MOST_UNFOLDED = 16 * 1024 * 1024;
const MOST_PACKED = 64 * 1024 * 1024;
/** Files of one message that are opened, and documents of it that are given to who reads them. */
const MOST_FILES = 1000;
const MOST_DOCUMENTS = 3;
/** Octets of what nobody knows that are let pass: a signature, a small picture of an odd kind. */
const MOST_UNKNOWN = 8 * 1024;
/** Octets of the ends of a file in which words are looked for. */
const MOST_WORDS = 32 * 1024;

/** Octets of one drawing of which the strings are read. */
const MOST_DRAWING = 1024 * 1024;

const STORED = 0;
const DEFLATED = 8;
const LOCAL = Buffer.from('PK\x03\x04', 'latin1');
/** Of streams in documents: nothing here undoes them. */
const UNREAD_FILTERS = /\/(?:LZWDecode|LZW|RunLengthDecode|RL|BrotliDecode|Crypt)\b/;
const LOCKED = Buffer.from('EncryptedPackage', 'utf16le');

/** Looks into the files of one message, and into those that are packed in them: in memory, and within bounds. */
export class FileScan {
  readonly #scan: SecretScan;
  readonly #readDocument: ReadDocument | undefined;
  #room = MOST_UNFOLDED;
  #packed = MOST_PACKED;
  #files = MOST_FILES;
  #documents = MOST_DOCUMENTS;

  constructor(scan: SecretScan, readDocument?: ReadDocument) {
    this.#scan = scan;
    this.#readDocument = readDocument;
  }

  /** A whole file; `depth`: archives around it. */
  async look(octets: Buffer, depth = 0): Promise<void> {
    const kind = fileKind(octets);
    if (kind === 'text') return this.#text(octets, depth);
    await this.#octets(octets);
    switch (kind) {
      case 'gzip':
        await this.#unfold('gzip', octets, depth);
        break;
      case 'tar':
        return this.#tar(octets, depth);
      case 'pdf':
        await this.#pdf(octets);
        break;
      case 'packed':
        this.#scan.unread.add('packed');
        break;
      case 'compound':
        if (octets.includes(LOCKED)) this.#scan.unread.add('locked');
        break;
      case 'unknown':
        if (octets.length > MOST_UNKNOWN) this.#scan.unread.add('unknown');
        break;
      case 'media':
      case 'zip':
    }
    // Programs find an archive behind anything, as one that opens itself.
    if (octets.includes(LOCAL)) await this.#zip(octets, depth);
  }

  async #text(octets: Buffer, depth: number): Promise<void> {
    const text = decodeCharset(octets, charsetOf(octets));
    await this.#scan.words(text);
    await this.writtenFiles(text, depth);
  }

  /** Files that stand in a text in base64: an archive, or a document. */
  async writtenFiles(text: string, depth = 0): Promise<void> {
    for (const [base64] of text.matchAll(/(?:UEsDB|H4sI|JVBERi|N3q8ry|UmFyIR)[A-Za-z0-9+/=\s]{40,}/g)) {
      if (this.#files-- <= 0) return void this.#scan.unread.add('packed');
      await this.#open(Buffer.from(base64, 'base64'), depth);
    }
  }

  async #octets(octets: Buffer): Promise<void> {
    await this.#scan.octets(octets);
    const ends = [octets.subarray(0, MOST_WORDS), octets.subarray(MOST_WORDS).subarray(-MOST_WORDS)];
    for (const end of ends) await this.#scan.text(wordsOf(end));
  }

  async #open(octets: Buffer, depth: number): Promise<void> {
    if (depth >= DEEPEST) this.#scan.unread.add('packed');
    else await this.look(octets, depth + 1);
  }

  async #unfold(packing: Packing, octets: Buffer, depth: number): Promise<number> {
    const { octets: unfolded, used, whole } = await this.#unfolded(packing, octets);
    if (!whole) this.#scan.unread.add('packed');
    if (unfolded.length > 0) await this.#open(unfolded, depth);
    return used;
  }

  async #unfolded(packing: Packing, octets: Buffer): Promise<Awaited<ReturnType<typeof unfold>>> {
    const done = await unfold(packing, octets.subarray(0, Math.max(0, this.#packed)), Math.max(0, this.#room));
    this.#room -= done.octets.length;
    this.#packed -= done.used;
    return done;
  }

  async #tar(archive: Buffer, depth: number): Promise<void> {
    for (const { name, octets } of tarFiles(archive)) {
      if (this.#files-- <= 0) return void this.#scan.unread.add('packed');
      await this.#scan.words(name);
      await this.#open(octets, depth);
    }
  }

  async #zip(archive: Buffer, depth: number): Promise<void> {
    let from = 0;
    for (let file = nextZipFile(archive, from); file !== undefined; file = nextZipFile(archive, from)) {
      if (this.#files-- <= 0 || this.#room <= 0) return void this.#scan.unread.add('packed');
      await this.#scan.words(file.name);
      from = await this.#zipped(archive, file, depth);
    }
  }

  /** Answers where the next one may begin. */
  async #zipped(archive: Buffer, { method, locked, start, end }: ZipFile, depth: number): Promise<number> {
    if (locked) {
      this.#scan.unread.add('locked');
      return start;
    }
    if (method === DEFLATED) return start + (await this.#unfold('raw', archive.subarray(start), depth));
    if (method === STORED) await this.#open(archive.subarray(start, end), depth);
    else this.#scan.unread.add('packed');
    return method === STORED ? end : start;
  }

  async #pdf(document: Buffer): Promise<void> {
    if (document.includes('/Encrypt')) this.#scan.unread.add('locked');
    for (const stream of pdfStreams(document)) {
      if (this.#files-- <= 0) return void this.#scan.unread.add('packed');
      await this.#drawing(stream);
    }
    if (this.#readDocument === undefined) return;
    const text = this.#documents-- > 0 ? await this.#readDocument(document) : undefined;
    if (text === undefined) this.#scan.unread.add('packed');
    else await this.#scan.words(text);
  }

  async #drawing(stream: PdfStream): Promise<void> {
    if (/\/Subtype\s*\/Image/.test(stream.about)) return;
    if (UNREAD_FILTERS.test(stream.about)) this.#scan.unread.add('packed');
    const data = pdfOctets(stream);
    if (data !== stream.data && stream.data.length > MOST_DIGITS) this.#scan.unread.add('packed');
    const flat = /\/FlateDecode|\/Fl\b/.test(stream.about);
    // The octets of the document were looked at as they stand.
    if (!flat) await this.#drawn(data, data !== stream.data);
    if (!flat && !isDeflated(data)) return;
    const { octets, whole } = await this.#unfolded('zlib', data);
    if (flat && !whole) this.#scan.unread.add('packed');
    await this.#drawn(octets, true);
  }

  async #drawn(octets: Buffer, isNew: boolean): Promise<void> {
    if (isNew) await this.#scan.octets(octets);
    if (octets.length > MOST_DRAWING) this.#scan.unread.add('long');
    await this.#scan.words(pdfStrings(octets.toString('latin1', 0, MOST_DRAWING)));
  }
}

function charsetOf(octets: Buffer): string {
  if (octets[0] === 0xff && octets[1] === 0xfe) return 'utf-16le';
  return octets[0] === 0xfe && octets[1] === 0xff ? 'utf-16be' : 'utf-8';
}

/** Runs of letters that are no accident, as octets have one now and then. */
function wordsOf(octets: Buffer): string {
  const runs = printable(octets).split('\n');
  return runs.filter((run) => run.length >= 6).join('\n');
}
