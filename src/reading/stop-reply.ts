import { unpackParts } from '../../mail/message/parts.ts';
import { readMessage } from '../../mail/message/readable.ts';
import { renderHtml } from './render-html.ts';
import { LinkRegistry } from './link-registry.ts';

/** Characters of a reply that are searched; some programs put long styles before the first word. */
const MAX_TEXT_CHARS = 256 * 1024;
/** Lines of an attribution such as "On Monday Anna wrote:", which may be wrapped. */
const MAX_INTRODUCTION_LINES = 4;
const STOP = /^[^\p{L}\p{N}]{0,20}stop(?![\p{L}\p{N}])/iu;

/**
 * True if the first word of a reply is STOP, above or below the quoted text, in plain text or HTML. `parts` is the packed
 * part table.
 */
export function isStopReply({ octets, parts }: { octets: Uint8Array; parts: string }): boolean {
  const { text, html } = readMessage(octets, unpackParts(parts));
  const shown = renderHtml(html.slice(0, MAX_TEXT_CHARS), 'text', new LinkRegistry(false)).text;
  return [text.slice(0, MAX_TEXT_CHARS), shown].some((one) => STOP.test(firstOwnLine(one) ?? ''));
}

/** Returns the first line that is neither quoted nor an attribution. */
export function firstOwnLine(text: string): string | undefined {
  const lines = text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .split('\n')
    .map((line) => line.trim());
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    if (line === '' || isQuoted(line)) at += 1;
    else if (STOP.test(line)) return line;
    else {
      const behind = findIntroducedQuote(lines, at);
      if (behind === undefined) return line;
      at = behind;
    }
  }
  return undefined;
}

/** Finds the quote that the lines from `from` introduce, in any language; undefined if they are no attribution. */
function findIntroducedQuote(lines: readonly string[], from: number): number | undefined {
  let end = from;
  while (end < lines.length && lines[end] !== '' && !isQuoted(lines[end] ?? '')) {
    end += 1;
    if (end - from > MAX_INTRODUCTION_LINES) return undefined;
  }
  const words = lines.slice(from, end).join(' ');
  const introduces = /[:\uff1a]$|\S{1,64}@\S{1,255}/u.test(words);
  let quote = end;
  while (lines[quote] === '') quote += 1;
  return introduces && isQuoted(lines[quote] ?? '') ? quote : undefined;
}

function isQuoted(line: string): boolean {
  return /^[>|\u00bb]/u.test(line);
}
