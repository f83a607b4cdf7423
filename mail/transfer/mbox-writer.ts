const LF = 10;
const QUOTE = 62;

/** Adds one '>' to lines that begin with "From " after any number of them (mboxrd). Lines end with LF. */
export class FromQuoter {
  #held = Buffer.alloc(0);
  #atLineStart = true;

  push(chunk: Buffer): Buffer {
    const octets = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    return this.#quote(octets, false);
  }

  end(): Buffer {
    const octets = this.#held;
    this.#held = Buffer.alloc(0);
    return this.#quote(octets, true);
  }

  #quote(octets: Buffer, last: boolean): Buffer {
    const pieces: Buffer[] = [];
    let from = 0;
    for (const line of candidates(octets, this.#atLineStart)) {
      const state = fromAt(octets, line);
      if (state === 'other' || (state === 'open' && last)) continue;
      pieces.push(octets.subarray(from, line));
      from = line;
      if (state === 'from') {
        pieces.push(Buffer.of(QUOTE));
        continue;
      }
      this.#held = Buffer.from(octets.subarray(line));
      this.#atLineStart = true;
      return Buffer.concat(pieces);
    }
    if (octets.length > 0) this.#atLineStart = octets[octets.length - 1] === LF;
    return pieces.length === 0 ? octets : Buffer.concat([...pieces, octets.subarray(from)]);
  }
}

/** Positions of lines that begin with '>' or 'F'. */
function* candidates(octets: Buffer, atLineStart: boolean): Generator<number> {
  if (atLineStart && octets.length > 0) yield 0;
  for (let at = octets.indexOf(LF); at >= 0 && at + 1 < octets.length; at = octets.indexOf(LF, at + 1)) {
    const first = octets[at + 1];
    if (first === QUOTE || first === 0x46) yield at + 1;
  }
}

/** The reader gives up at so many as well. */
const MAX_QUOTES = 999;

/** `open`: the octets end before it is decided. */
function fromAt(octets: Buffer, line: number): 'from' | 'other' | 'open' {
  let at = line;
  while (at < octets.length && octets[at] === QUOTE) if (++at - line > MAX_QUOTES) return 'other';
  if (octets.length - at < 5) return 'From '.startsWith(octets.toString('latin1', at)) ? 'open' : 'other';
  return octets.toString('latin1', at, at + 5) === 'From ' ? 'from' : 'other';
}

/** Writes CRLF as LF, as files of Unix have it. */
export async function* withLfEnds(octets: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held = false;
  for await (const chunk of octets) {
    const all: Buffer = held ? Buffer.concat([Buffer.of(13), chunk]) : chunk;
    held = all[all.length - 1] === 13;
    yield Buffer.from(all.toString('latin1', 0, held ? all.length - 1 : all.length).replaceAll('\r\n', '\n'), 'latin1');
  }
  if (held) yield Buffer.of(13);
}
