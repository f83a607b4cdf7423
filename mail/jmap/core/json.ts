import { closingQuote, jsonExcess } from '../../limits/json-bounds.ts';
import { RequestError } from './errors.ts';

const MAX_NESTING = 100;
/** Objects, arrays and separators: 10 MB of `{},` would take 1 s and 300 MB. */
const MAX_ELEMENTS = 100_000;

/**
 * Reads the octets of a request as I-JSON: UTF-8, no name twice in one object, no lone surrogate (RFC 7493 2). Throws
 * {@link RequestError} `notJSON`.
 */
export function readIJson(octets: Uint8Array): unknown {
  const text = decode(octets);
  checkBounds(text);
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

function checkBounds(text: string): void {
  const excess = jsonExcess(text, { depth: MAX_NESTING, elements: MAX_ELEMENTS });
  if (excess === 'depth') throw new RequestError('notJSON', `The body nests deeper than ${MAX_NESTING} levels.`);
  if (excess === undefined) return;
  const most = `The body has more than ${MAX_ELEMENTS} values. Send several requests.`;
  throw new RequestError('limit', most, 'maxSizeRequest');
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
    } else if (found === '}' || found === ']') open.pop();
    else if (found === '"') {
      const end = closingQuote(text, at) + 1;
      if (isName(text, end)) noteName(open.at(-1), text.slice(at, end));
      at = end - 1;
    }
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
