import { firstField, readFields, unfold } from '../../../message/header.ts';
import { LIMITS } from '../../../message/limits.ts';
import { hashId, messageIds } from '../../../message/msg-id.ts';
import { isReplySubject } from '../../../message/subject.ts';
import type { ThreadingRow } from './column-source.ts';

/** No Message-ID. */
export const NO_ID = -1;

/** Message-IDs, replies and subjects of the messages of one mailbox by position, as THREAD needs them. RFC 5256 3. */
export class ThreadColumns {
  /** Numbers of the Message-IDs, from 0, by their hashes. */
  readonly #ids = new Map<number, number>();
  /** Number of the own Message-ID, or {@link NO_ID}. */
  readonly #own: number[] = [];
  readonly #references: (readonly number[])[] = [];
  /** Base subjects. */
  readonly subjects: string[] = [];
  /** The subject was that of a reply or forward. */
  readonly #replies: boolean[] = [];

  get length(): number {
    return this.#own.length;
  }

  /** Number of different Message-IDs. */
  get ids(): number {
    return this.#ids.size;
  }

  get octets(): number {
    return this.length * 160 + this.#ids.size * 40;
  }

  /**
   * Reports that the stored references may begin with ids of In-Reply-To only, which count if References has none: the
   * header must be read. RFC 5256 3, REFERENCES step 1.
   */
  static isAmbiguous({ refs, envelope }: ThreadingRow): boolean {
    if (refs.length <= 16) return false;
    const replied = inReplyTo(envelope);
    if (replied === undefined) return true;
    const first = hashesOf(refs)[1] ?? 0;
    return messageIds(replied).some((id) => numberOf(hashId(id)) === first);
  }

  /** Adds the next position; without a row it was expunged. `header`: of an ambiguous row. */
  append(row: ThreadingRow | undefined, header?: string): void {
    const hashes = row === undefined ? [0] : header === undefined ? hashesOf(row.refs) : writtenHashes(row, header);
    const [own = 0, ...references] = hashes;
    this.#own.push(own === 0 ? NO_ID : this.#idOf(own));
    this.#references.push(references.map((hash) => this.#idOf(hash)));
    this.subjects.push(row?.baseSubject ?? '');
    this.#replies.push(row !== undefined && isReplySubject(row.subject));
  }

  /** Number of its Message-ID, or {@link NO_ID}. */
  idAt(position: number): number {
    return this.#own[position] ?? NO_ID;
  }

  /** Numbers of the Message-IDs that it refers to, the parent last. */
  referencesAt(position: number): readonly number[] {
    return this.#references[position] ?? [];
  }

  isReply(position: number): boolean {
    return this.#replies[position] === true;
  }

  #idOf(hash: number): number {
    let id = this.#ids.get(hash);
    if (id === undefined) this.#ids.set(hash, (id = this.#ids.size));
    return id;
  }
}

/** Stored hashes as numbers of 53 bits; 0 for no id. */
function hashesOf(refs: Uint8Array): number[] {
  const view = new DataView(refs.buffer, refs.byteOffset, refs.length);
  const hashes: number[] = [];
  for (let at = 0; at + 8 <= refs.length; at += 8)
    hashes.push((view.getUint32(at + 4, true) & 0x1fffff) * 2 ** 32 + view.getUint32(at, true));
  return hashes;
}

function numberOf(hash: bigint): number {
  return Number(BigInt.asUintN(53, hash));
}

/** The own hash, and those of References as written, else of the first id of In-Reply-To. */
function writtenHashes(row: ThreadingRow, header: string): number[] {
  const fields = readFields(header.slice(0, LIMITS.header), LIMITS.fields);
  const idsOf = (name: string): string[] => messageIds(unfold(firstField(fields, name)?.slice(0, LIMITS.field) ?? ''));
  const references = idsOf('references').slice(-LIMITS.refs);
  const parents = references.length > 0 ? references : idsOf('in-reply-to').slice(0, 1);
  return [hashesOf(row.refs)[0] ?? 0, ...parents.map((id) => numberOf(hashId(id)))];
}

/** In-Reply-To of a wire-ready ENVELOPE, the field before the last; undefined: a literal, or not found. Linear. */
function inReplyTo(envelope: string): string | undefined {
  const id = nstringBefore(envelope, envelope.length - 1);
  const replied = id && nstringBefore(envelope, id.start - 1);
  return replied?.text;
}

/** The `NIL` or quoted string that ends before `end`. */
function nstringBefore(text: string, end: number): { text: string; start: number } | undefined {
  if (text.endsWith(' NIL', end)) return { text: '', start: end - 3 };
  if (text[end - 1] !== '"') return undefined;
  for (let at = text.lastIndexOf('"', end - 2); at >= 0; at = text.lastIndexOf('"', at - 1)) {
    // A quoted string begins behind a blank or parenthesis; `\"` within does not.
    if (text[at - 1] !== '\\') return { text: text.slice(at + 1, end - 1).replace(/\\(.)/g, '$1'), start: at };
  }
  return undefined;
}
