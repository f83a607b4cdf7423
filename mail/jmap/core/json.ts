import { RequestError } from './errors.ts';

/** Maximum nesting; JSON.parse itself has no limit. */
const MAX_NESTING = 100;

/**
 * Reads the octets of a request as I-JSON: UTF-8, no name twice in one object, no lone surrogate (RFC 7493 2). Throws
 * {@link RequestError} `notJSON`.
 */
export function readJson(octets: Uint8Array): unknown {
  const text = decode(octets);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new RequestError('notJSON', `The body is not JSON: ${(error as Error).message}`);
  }
  checkNames(text);
  if (/\\u[dD][89a-fA-F]/.test(text)) checkStrings(value);
  return value;
}

function decode(octets: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(octets);
  } catch {
    throw new RequestError('notJSON', 'The body is not UTF-8.');
  }
}

/** Rejects lone surrogates, which escapes can produce. */
function checkStrings(value: unknown): void {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new RequestError('notJSON', 'A string contains a lone surrogate (RFC 7493 2.1).');
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, one] of Object.entries(value)) {
      checkStrings(name);
      checkStrings(one);
    }
  }
}

/** Rejects duplicate names, of which JSON.parse keeps only the last. Expects valid JSON. */
function checkNames(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const found = text[at];
    if (found === '{' || found === '[') {
      open.push(found === '{' ? new Set() : undefined);
      if (open.length > MAX_NESTING)
        throw new RequestError('notJSON', `The body nests deeper than ${MAX_NESTING} levels.`);
    } else if (found === '}' || found === ']') open.pop();
    else if (found === '"') {
      const end = stringEnd(text, at);
      if (isName(text, end)) noteName(open.at(-1), text.slice(at, end));
      at = end - 1;
    }
  }
}

/** Finds the index after a string's closing quote. Not a regular expression: one overflows the stack on megabytes. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let escapes = at;
    while (text[escapes - 1] === '\\') escapes--;
    if ((at - escapes) % 2 === 0) return at + 1;
  }
}

function isName(text: string, at: number): boolean {
  let i = at;
  while (text[i] === ' ' || text[i] === '\n' || text[i] === '\r' || text[i] === '\t') i++;
  return text[i] === ':';
}

function noteName(names: Set<string> | undefined, quoted: string): void {
  const name = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  if (names?.has(name) === true)
    throw new RequestError('notJSON', `An object has the name ${quoted.slice(0, 100)} twice (RFC 7493 2.3).`);
  names?.add(name);
}

/**
 * Estimates the octets of a value as JSON; stops soon after `most`. Counts a shared value at each occurrence: result
 * references let a request of a few lines double its response with each call.
 */
export function jsonSize(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let size = 2;
  for (const [name, one] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    size += 1 + (typeof name === 'string' ? name.length + 3 : 0) + jsonSize(one, most - size);
    if (size > most) break;
  }
  return size;
}
