/** The collation key of sorting and threading: i;unicode-casemap of RFC 5051, by compatibility decomposition and upper case. */
export function casemap(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text.toUpperCase() : text.normalize('NFKD').toUpperCase();
}

/**
 * The base subject of RFC 5256 2.1 under {@link casemap}: without "Re:", "Fwd:", "[list]" in front, "(fwd)" behind and
 * "[Fwd: ...]" around. Linear: two indices close in on the text, nothing is copied on the way.
 */
export function baseSubject(decoded: string): string {
  const text = decoded.replace(/\s+/g, ' ').toUpperCase();
  let start = 0;
  let end = text.length;
  for (;;) {
    end = withoutTrailer(text, start, end);
    start = withoutLeaders(text, start, end);
    // RFC 5256 2.1 (6): "[Fwd: subject]" is opened and everything done again.
    if (!text.startsWith('[FWD:', start) || text[end - 1] !== ']') break;
    start += 5;
    end -= 1;
  }
  return casemap(text.slice(start, end).trim());
}

/** Steps 2: "(fwd)" and blanks at the end. */
function withoutTrailer(text: string, start: number, from: number): number {
  let end = from;
  for (;;) {
    if (end > start && text[end - 1] === ' ') end -= 1;
    else if (end - 5 >= start && text.startsWith('(FWD)', end - 5)) end -= 5;
    else return end;
  }
}

/** Steps 3 to 5: leaders as long as there are some, blobs as long as something remains behind them. */
function withoutLeaders(text: string, from: number, end: number): number {
  let start = from;
  let blobsEnd = from;
  for (;;) {
    while (text[start] === ' ' && start < end) start++;
    // Blobs that were once seen to lead to no "Re:" need not be walked again from the next one on.
    if (start >= blobsEnd) {
      blobsEnd = start;
      for (let next = blobEnd(text, start, end); next > blobsEnd; next = blobEnd(text, next, end)) blobsEnd = next;
      const leader = leaderEnd(text, blobsEnd, end);
      if (leader > blobsEnd) {
        start = leader;
        continue;
      }
    }
    const next = blobEnd(text, start, end);
    if (next <= start || next >= end) return start;
    start = next;
  }
}

/** Where `refwd [blob] ":"` ends, or the start when there is none. */
function leaderEnd(text: string, start: number, end: number): number {
  const word = ['RE', 'FWD', 'FW'].find((leader) => text.startsWith(leader, start));
  if (word === undefined) return start;
  let at = start + word.length;
  if (text[at] === ' ') at++;
  at = blobEnd(text, at, end);
  return text[at] === ':' && at < end ? at + 1 : start;
}

/** Where `"[" *BLOBCHAR "]" *WSP` ends, or the start when there is none. */
function blobEnd(text: string, start: number, end: number): number {
  if (text[start] !== '[') return start;
  let at = start + 1;
  while (at < end && text[at] !== '[' && text[at] !== ']') at++;
  if (at >= end || text[at] !== ']') return start;
  at++;
  while (at < end && text[at] === ' ') at++;
  return at;
}
