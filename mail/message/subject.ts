/** Collation key for sorting and threading: i;unicode-casemap of RFC 5051 (NFKD, upper case). */
export function casemap(text: string): string {
  return /[^\0-\x7f]/.test(text) ? text.normalize('NFKD').toUpperCase() : text.toUpperCase();
}

/**
 * Extracts the base subject of RFC 5256 2.1 under {@link casemap}: removes leading "Re:", "Fwd:" and "[list]", trailing
 * "(fwd)", and "[Fwd: ...]" around. Linear: two indices, no copies.
 */
export function baseSubject(decoded: string): string {
  const text = plainSubject(decoded);
  // A leader has a colon, a trailer a parenthesis, a blob a bracket; most subjects have none.
  if (!/[:()[\]]/.test(text)) return casemap(text.trim());
  const { start, end } = baseOf(text);
  return casemap(text.slice(start, end).trim());
}

/** Tests if the subject is that of a reply or forward: it has "Re:", "Fwd:", "(fwd)" or "[Fwd: ...]". RFC 5256 2.1. */
export function isReplySubject(decoded: string): boolean {
  const text = plainSubject(decoded);
  return /[:(]/.test(text) && baseOf(text).isReply;
}

function plainSubject(decoded: string): string {
  return decoded.replace(/\s+/g, ' ').toUpperCase();
}

/** The range of the base subject, and if more than blanks and blobs was around it. */
function baseOf(text: string): { start: number; end: number; isReply: boolean } {
  let start = 0;
  let end = text.length;
  let isReply = false;
  for (;;) {
    const before = end;
    end = withoutTrailer(text, start, end);
    isReply ||= text.slice(end, before).includes('(');
    const leaders = withoutLeaders(text, start, end);
    isReply ||= leaders.found;
    ({ start } = leaders);
    // RFC 5256 2.1 (6): unwraps "[Fwd: subject]" and repeats.
    if (!text.startsWith('[FWD:', start) || text[end - 1] !== ']') return { start, end, isReply };
    start += 5;
    end -= 1;
    isReply = true;
  }
}

/** Step 2: removes "(fwd)" and blanks at the end. */
function withoutTrailer(text: string, start: number, from: number): number {
  let end = from;
  for (;;) {
    if (end > start && text[end - 1] === ' ') end -= 1;
    else if (end - 5 >= start && text.startsWith('(FWD)', end - 5)) end -= 5;
    else return end;
  }
}

/** Steps 3 to 5: removes leaders, and blobs as long as text remains after them. */
function withoutLeaders(text: string, from: number, end: number): { start: number; found: boolean } {
  let start = from;
  let blobsEnd = from;
  let found = false;
  for (;;) {
    while (text[start] === ' ' && start < end) start++;
    // Blobs known to precede no "Re:" are not scanned again.
    if (start >= blobsEnd) {
      blobsEnd = start;
      for (let next = blobEnd(text, start, end); next > blobsEnd; next = blobEnd(text, next, end)) blobsEnd = next;
      const leader = leaderEnd(text, blobsEnd, end);
      if (leader > blobsEnd) {
        start = leader;
        found = true;
        continue;
      }
    }
    const next = blobEnd(text, start, end);
    if (next <= start || next >= end) return { start, found };
    start = next;
  }
}

const LEADER = /(?:RE|FWD?) ?/y;

/** Index after `refwd [blob] ":"`; `start` without one. */
function leaderEnd(text: string, start: number, end: number): number {
  LEADER.lastIndex = start;
  if (!LEADER.test(text)) return start;
  const at = blobEnd(text, LEADER.lastIndex, end);
  return text[at] === ':' && at < end ? at + 1 : start;
}

/** Index after `"[" *BLOBCHAR "]" *WSP`; `start` without one. */
function blobEnd(text: string, start: number, end: number): number {
  if (text[start] !== '[') return start;
  let at = start + 1;
  while (at < end && text[at] !== '[' && text[at] !== ']') at++;
  if (at >= end || text[at] !== ']') return start;
  at++;
  while (at < end && text[at] === ' ') at++;
  return at;
}
