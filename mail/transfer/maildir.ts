import { ANSWERED, DELETED, DRAFT, FLAGGED, type NamedFlags, SEEN } from '../store/mailbox/flags.ts';
import { fromUtf7 } from '../imap/wire/mailbox-name.ts';
import { keywordsOf } from './mbox-fields.ts';

/** Flags in the name of a Maildir file, in the order that names have. */
const FLAGS: readonly [string, number][] = [
  ['D', DRAFT],
  ['F', FLAGGED],
  ['R', ANSWERED],
  ['S', SEEN],
  ['T', DELETED],
];

/** Keyword of P (passed), as mail programs name it. */
const FORWARDED = '$Forwarded';

/** Flags of a file name such as `1700000000.M1P2.host:2,FSa`. `keywords`: names of the letters from a. */
export function maildirFlags(name: string, keywords: readonly string[]): NamedFlags {
  // Names in zip archives of other systems have another character for the colon.
  const [, letters = ''] = /[:;!]2,([A-Za-z]*)$/.exec(name) ?? [];
  let bits = 0;
  const words: string[] = [];
  for (const letter of letters) {
    bits |= FLAGS.find(([one]) => one === letter)?.[1] ?? 0;
    if (letter === 'P') words.push(FORWARDED);
    else if (letter >= 'a') words.push(keywords[letter.charCodeAt(0) - 97] ?? '');
  }
  return { bits, keywords: keywordsOf(words) };
}

/** The end of a file name with these flags; keywords without a letter are in the manifest alone. */
export function maildirInfo({ bits, keywords }: NamedFlags, known: readonly string[]): string {
  const letters = FLAGS.filter(([, bit]) => (bits & bit) !== 0).map(([letter]) => letter);
  if (keywords.some((word) => word.toLowerCase() === FORWARDED.toLowerCase())) letters.push('P');
  const named = keywords.flatMap((word) => {
    const at = known.indexOf(word);
    return at >= 0 && at < 26 ? [String.fromCharCode(97 + at)] : [];
  });
  return `:2,${letters.toSorted().join('')}${named.toSorted().join('')}`;
}

/** Parses Dovecot's `dovecot-keywords`: a number and a keyword on each line. */
export function parseKeywords(text: string): string[] {
  const found: string[] = [];
  for (const line of text.split('\n').slice(0, 26)) {
    const [, number, word = ''] = /^(\d{1,2}) (\S+)$/.exec(line.trim()) ?? [];
    if (number !== undefined && Number(number) < 26) found[Number(number)] = word;
  }
  return Array.from(found, (word) => word ?? '');
}

/**
 * Folder name of a Maildir++ directory: `.Work.Old` is Work/Old; names are modified UTF-7. Our exports once wrote a dot within a
 * level as `&AC4-`.
 */
export function folderOfMaildir(directory: string): string {
  return directory
    .replace(/^\./, '')
    .split('.')
    .map((level) => fromUtf7(level).replaceAll('&AC4-', '.'))
    .join('/');
}
