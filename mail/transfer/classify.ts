import { folderOfMaildir } from './maildir.ts';
import { fromUtf7 } from '../imap/wire/mailbox-name.ts';

/** Meaning of a file in a source. */
export type SourceFileKind =
  | { kind: 'maildir'; folder: string; /** Directory with cur and new. */ directory: string }
  | { kind: 'mbox'; folder: string }
  | { kind: 'eml'; folder: string }
  /** Its content decides: an mbox without an extension, or nothing that is known. */
  | { kind: 'unknown'; folder: string }
  | { kind: 'ignored' };

/** Files that mail programs keep beside mail. */
const IGNORED =
  /^(?:table_of_contents|maildirfolder|maildirsize|subscriptions|dovecot[\w.-]*|courier[\w.-]*|thumbs\.db|manifest\.jsonl|mailstead-export\.json|mailstead-organization\.json|.*\.(?:msf|dat|html|json|ics|vcf|plist|log))$/i;

/** Classifies a file by its path, as Maildir, Maildir++, Thunderbird, Apple Mail and Takeout name them. */
export function classify(path: string): SourceFileKind {
  const levels = path.split('/');
  const name = levels.pop() ?? '';
  const parent = levels.at(-1) ?? '';
  if (parent === 'tmp' || name.startsWith('.') || IGNORED.test(name) || levels[0] === '__MACOSX')
    return { kind: 'ignored' };
  if (parent === 'cur' || parent === 'new') return maildir(levels.slice(0, -1));
  if (name === 'mbox' && /\.mbox$/i.test(parent)) return { kind: 'mbox', folder: folderOf(levels) };
  if (/\.mbox$/i.test(name)) return { kind: 'mbox', folder: folderOf([...levels, name]) };
  if (/\.eml$/i.test(name)) return { kind: 'eml', folder: folderOf(levels) };
  return { kind: 'unknown', folder: folderOf([...levels, name]) };
}

function maildir(levels: readonly string[]): SourceFileKind {
  const own = levels.at(-1) ?? '';
  const directory = levels.join('/');
  const root = (all: readonly string[]): string[] =>
    all.filter((level) => !/^maildir$/i.test(level)).map((level) => fromUtf7(level));
  if (!own.startsWith('.')) return { kind: 'maildir', folder: root(levels).join('/'), directory };
  return { kind: 'maildir', folder: [...root(levels.slice(0, -1)), folderOfMaildir(own)].join('/'), directory };
}

/** Folder of directories: Thunderbird has the children of Work in Work.sbd, Apple Mail has Work.mbox. */
function folderOf(levels: readonly string[]): string {
  return levels
    .map((level) => level.replace(/\.(?:sbd|mbox)$/i, ''))
    .map((level) => unescaped(level))
    .join('/');
}

/** Characters that our exports write as %XX. */
function unescaped(level: string): string {
  try {
    return /%[0-9A-F]{2}/.test(level) ? decodeURIComponent(level) : level;
  } catch {
    return level;
  }
}
