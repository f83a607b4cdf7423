import { unpackParts } from '../../mail/message/parts.ts';
import { readMessage } from '../../mail/message/readable.ts';
import { htmlReading } from '../reading/html-reading.ts';
import { LinkBook } from '../reading/link-book.ts';

/** Characters of an answer that are looked at; some programs put much style before the first word. */
const MOST_TEXT = 256 * 1024;
/** Lines of "On Monday Anna wrote:", however it is broken. */
const LONGEST_INTRODUCTION = 4;
const STOP = /^[^\p{L}\p{N}]{0,20}stop(?![\p{L}\p{N}])/iu;

/**
 * Whether an answer says STOP: the first word of what its author wrote, above or below of what is quoted, in plain text or
 * in HTML. `parts` is its part table.
 */
export function saysStop({ octets, parts }: { octets: Uint8Array; parts: string }): boolean {
  const { text, html } = readMessage(octets, unpackParts(parts));
  const shown = htmlReading(html.slice(0, MOST_TEXT), 'text', new LinkBook(false)).text;
  return [text.slice(0, MOST_TEXT), shown].some((one) => STOP.test(firstOwnLine(one) ?? ''));
}

/** The first line of a text that quotes nothing and introduces no quote. */
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
      const behind = behindIntroduction(lines, at);
      if (behind === undefined) return line;
      at = behind;
    }
  }
  return undefined;
}

/** Where the quote begins that the lines from here introduce, in whatever language; undefined: they introduce none. */
function behindIntroduction(lines: readonly string[], from: number): number | undefined {
  let end = from;
  while (end < lines.length && lines[end] !== '' && !isQuoted(lines[end] ?? '')) {
    end += 1;
    if (end - from > LONGEST_INTRODUCTION) return undefined;
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
