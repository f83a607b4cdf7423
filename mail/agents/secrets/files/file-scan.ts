import type { ReadDocument } from '../../gate/types.ts';
import { type DeflateFormat, inflate, type InflateResult } from '../../../message/archive/inflate.ts';
import { tarFiles } from '../../../message/archive/tar.ts';
import { nextZipFile, type ZipFile } from '../../../message/archive/zip.ts';
import { decodeCharset } from '../../../message/decode.ts';
import { printableRuns } from '../plain.ts';
import type { SecretScan } from '../scan.ts';
import { fileKind } from './kind.ts';
import { isDeflated, MAX_DIGITS, pdfOctets, type PdfStream, pdfStreams, pdfStrings } from './pdf.ts';

/** Maximum nesting of archives; a compressed tar counts as two. */
const MAX_DEPTH = 3;
/** Octets that may be unpacked, and packed octets that are read, for one message. */
const MAX_UNPACKED = 16 * 1024 * 1024;
const MAX_PACKED = 64 * 1024 * 1024;
/** Files of one message that are opened, and documents that are passed to the document reader. */
const MAX_FILES = 1000;
const MAX_DOCUMENTS = 3;
/** Octets of an unknown file that may pass: less than a secret takes. */
const MAX_UNKNOWN = 16;
/** Octets at both ends of a file that are scanned for words. */
const MAX_WORDS = 32 * 1024;

/** Octets of one content stream whose strings are read. */
const MAX_DRAWING = 1024 * 1024;

const STORED = 0;
const DEFLATED = 8;
const LOCAL = Buffer.from('PK\x03\x04', 'latin1');
/** Stream filters of documents that are not supported. */
const UNREAD_FILTERS = /\/(?:LZWDecode|LZW|RunLengthDecode|RL|BrotliDecode|Crypt)\b/;
const LOCKED = Buffer.from('EncryptedPackage', 'utf16le');

/** Scans the files of one message, packed ones included: in memory, and within limits. */
export class FileScan {
  readonly #scan: SecretScan;
  readonly #readDocument: ReadDocument | undefined;
  #room = MAX_UNPACKED;
  #packed = MAX_PACKED;
  #files = MAX_FILES;
  #documents = MAX_DOCUMENTS;

  constructor(scan: SecretScan, readDocument?: ReadDocument) {
    this.#scan = scan;
    this.#readDocument = readDocument;
  }

  /** Scans a whole file; `depth`: archives around it. */
  async look(octets: Buffer, depth = 0): Promise<void> {
    const kind = fileKind(octets);
    if (kind === 'text') return this.#text(octets, depth);
    await this.#octets(octets);
    switch (kind) {
      case 'gzip':
        await this.#unfold('gzip', octets, depth);
        break;
      case 'zlib':
        await this.#unfold('zlib', octets, depth);
        break;
      case 'tar':
        return this.#tar(octets, depth);
      case 'pdf':
        await this.#pdf(octets);
        break;
      case 'packed':
        this.#scan.unscanned.add('packed');
        break;
      case 'compound':
        if (octets.includes(LOCKED)) this.#scan.unscanned.add('locked');
        break;
      case 'unknown':
        if (octets.length > MAX_UNKNOWN) this.#scan.unscanned.add('unknown');
        break;
      case 'media':
      case 'zip':
    }
    // Programs find an archive behind any prefix, as in a self-extracting one.
    if (octets.includes(LOCAL)) await this.#zip(octets, depth);
  }

  async #text(octets: Buffer, depth: number): Promise<void> {
    const text = decodeCharset(octets, charsetOf(octets));
    await this.#scan.words(text);
    await this.writtenFiles(text, depth);
  }

  /** Scans files in base64 within a text: an archive, or a document. */
  async writtenFiles(text: string, depth = 0): Promise<void> {
    for (const [base64] of text.matchAll(/(?:UEsDB|H4sI|JVBERi|N3q8ry|UmFyIR)[A-Za-z0-9+/=\s]{40,}/g)) {
      if (this.#files-- <= 0) return void this.#scan.unscanned.add('packed');
      await this.#open(Buffer.from(base64, 'base64'), depth);
    }
  }

  async #octets(octets: Buffer): Promise<void> {
    await this.#scan.octets(octets);
    const ends = [octets.subarray(0, MAX_WORDS), octets.subarray(MAX_WORDS).subarray(-MAX_WORDS)];
    for (const end of ends) await this.#scan.text(wordsOf(end));
  }

  async #open(octets: Buffer, depth: number): Promise<void> {
    if (depth >= MAX_DEPTH) this.#scan.unscanned.add('packed');
    else await this.look(octets, depth + 1);
  }

  async #unfold(format: DeflateFormat, octets: Buffer, depth: number): Promise<number> {
    const { octets: unfolded, used, whole } = await this.#unfolded(format, octets);
    if (!whole) this.#scan.unscanned.add('packed');
    if (unfolded.length > 0) await this.#open(unfolded, depth);
    return used;
  }

  async #unfolded(format: DeflateFormat, octets: Buffer): Promise<InflateResult> {
    const done = await inflate(format, octets.subarray(0, Math.max(0, this.#packed)), Math.max(0, this.#room));
    this.#room -= done.octets.length;
    this.#packed -= done.used;
    return done;
  }

  async #tar(archive: Buffer, depth: number): Promise<void> {
    for (const { name, octets } of tarFiles(archive)) {
      if (this.#files-- <= 0) return void this.#scan.unscanned.add('packed');
      await this.#scan.words(name);
      await this.#open(octets, depth);
    }
  }

  async #zip(archive: Buffer, depth: number): Promise<void> {
    let from = 0;
    for (let file = nextZipFile(archive, from); file !== undefined; file = nextZipFile(archive, from)) {
      if (this.#files-- <= 0 || this.#room <= 0) return void this.#scan.unscanned.add('packed');
      await this.#scan.words(file.name);
      from = await this.#zipped(archive, file, depth);
    }
  }

  /** Returns where the next file may begin. */
  async #zipped(archive: Buffer, { method, locked, start, end }: ZipFile, depth: number): Promise<number> {
    if (locked) {
      this.#scan.unscanned.add('locked');
      return start;
    }
    if (method === DEFLATED) return start + (await this.#unfold('raw', archive.subarray(start), depth));
    if (method === STORED) await this.#open(archive.subarray(start, end), depth);
    else this.#scan.unscanned.add('packed');
    return method === STORED ? end : start;
  }

  async #pdf(document: Buffer): Promise<void> {
    if (document.includes('/Encrypt')) this.#scan.unscanned.add('locked');
    for (const stream of pdfStreams(document)) {
      if (this.#files-- <= 0) return void this.#scan.unscanned.add('packed');
      await this.#drawing(stream);
    }
    if (this.#readDocument === undefined) return;
    const text = this.#documents-- > 0 ? await this.#readDocument(document) : undefined;
    if (text === undefined) this.#scan.unscanned.add('packed');
    else await this.#scan.words(text);
  }

  async #drawing(stream: PdfStream): Promise<void> {
    if (/\/Subtype\s*\/Image/.test(stream.about)) return;
    if (UNREAD_FILTERS.test(stream.about)) this.#scan.unscanned.add('packed');
    const data = pdfOctets(stream);
    if (data !== stream.data && stream.data.length > MAX_DIGITS) this.#scan.unscanned.add('packed');
    const flat = /\/FlateDecode|\/Fl\b/.test(stream.about);
    // The octets of the document were scanned already.
    if (!flat) await this.#drawn(data, data !== stream.data);
    if (!flat && !isDeflated(data)) return;
    const { octets, whole } = await this.#unfolded('zlib', data);
    if (flat && !whole) this.#scan.unscanned.add('packed');
    await this.#drawn(octets, true);
  }

  async #drawn(octets: Buffer, isNew: boolean): Promise<void> {
    if (isNew) await this.#scan.octets(octets);
    if (octets.length > MAX_DRAWING) this.#scan.unscanned.add('long');
    await this.#scan.words(pdfStrings(octets.toString('latin1', 0, MAX_DRAWING)));
  }
}

function charsetOf(octets: Buffer): string {
  if (octets[0] === 0xff && octets[1] === 0xfe) return 'utf-16le';
  return octets[0] === 0xfe && octets[1] === 0xff ? 'utf-16be' : 'utf-8';
}

/** Runs of six or more letters; shorter ones occur in random octets. */
function wordsOf(octets: Buffer): string {
  const runs = printableRuns(octets).split('\n');
  return runs.filter((run) => run.length >= 6).join('\n');
}
