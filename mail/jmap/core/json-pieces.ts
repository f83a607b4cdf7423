import { jsonSize } from './json.ts';

/** Approximate characters of one piece. */
const PIECE = 64 * 1024;

/**
 * Yields a value as JSON in pieces, so that a response is serialized as fast as its client reads: escapes make JSON up to
 * six times as long as its text.
 */
export function* jsonPieces(value: unknown): Generator<string> {
  if (typeof value === 'string') yield* stringPieces(value);
  else if (typeof value !== 'object' || value === null || jsonSize(value, PIECE) <= PIECE) yield JSON.stringify(value);
  else {
    const isList = Array.isArray(value);
    const members = isList ? value.map((one) => ['', one] as const) : Object.entries(value);
    let before = isList ? '[' : '{';
    for (const [name, one] of members) {
      if (one === undefined && !isList) continue;
      yield before + (isList ? '' : `${JSON.stringify(name)}:`);
      yield* jsonPieces(one ?? null);
      before = ',';
    }
    yield isList ? ']' : '}';
  }
}

function* stringPieces(text: string): Generator<string> {
  yield '"';
  for (let at = 0; at < text.length;) {
    // A surrogate pair is not cut: each half would be escaped.
    const end = isHighSurrogate(text, at + PIECE - 1) ? at + PIECE + 1 : at + PIECE;
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}
