/** Stands for a character that cannot be stored. */
const REPLACEMENT = '\ufffd';

/**
 * A text as PostgreSQL can store it: U+FFFD instead of NUL, which its texts cannot have, and in JSON instead of escapes of NUL
 * and of surrogates without a pair, which its jsonb refuses. SQLite has no such limits, and strangers choose texts: names of
 * senders in encoded words, names in JSON.
 */
export function storedText(text: string): string {
  const plain = text.includes('\0') ? text.replaceAll('\0', REPLACEMENT) : text;
  return plain.includes('\\u') && /^[[{]/.test(plain) ? storedJson(plain) : plain;
}

/** A pair of surrogates, an escape that cannot be stored, or any other escape: of a backslash, too, which begins none. */
const ESCAPE = /\\(?:(u[dD][89abAB]..\\u[dD][c-fC-F]..)|(u0000|u[dD][89a-fA-F]..)|[^])/g;

function storedJson(json: string): string {
  const stored = json.replaceAll(ESCAPE, (escape, _pair, refused) => (refused === undefined ? escape : REPLACEMENT));
  return stored === json || !isJson(json) ? json : stored;
}

/** Any other text that begins as JSON does, such as a subject, stays as it is. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
