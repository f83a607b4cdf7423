import { toUtf7 } from '../imap/wire/mailbox-name.ts';
import type { ExportFormat } from './manifest.ts';

/** Octets of a name in a directory, at most: file systems have 255, and an ending such as `.mbox` is added. */
const MAX_NAME_OCTETS = 200;

/** Names in the file system for the levels of one folder. */
type NamesOf = (levels: readonly string[]) => string[];

/**
 * The paths of the folders of one export. Each is unlike all others also where case does not count, and short enough for a file
 * system; the full name of each folder is in the summary of the export, which an import reads.
 */
export class ExportPaths {
  readonly #isMaildir: boolean;
  readonly #namesOf: NamesOf;
  readonly #taken = new Set<string>();
  /** By path, the last number that was added to it: thousands of folders may have one. */
  readonly #counts = new Map<string, number>();

  constructor(format: ExportFormat) {
    this.#isMaildir = format === 'maildir';
    this.#namesOf = this.#isMaildir ? (levels) => [maildirOfLevels(levels)] : (levels) => levels.map(escapedLevel);
  }

  /** Path of a folder, with '/' between names; '' is the Maildir of INBOX. */
  pathOf(folder: string): string {
    if (this.#isMaildir && folder === 'INBOX') return '';
    const wanted = this.#fitted(folder, '');
    const first = keyOf(wanted);
    let n = this.#counts.get(first) ?? 1;
    let path = n === 1 ? wanted : this.#fitted(folder, `_${n}`);
    while (this.#taken.has(keyOf(path))) path = this.#fitted(folder, `_${++n}`);
    this.#counts.set(first, n);
    this.#taken.add(keyOf(path));
    return path;
  }

  /** The path with this ending, its longest levels cut until each name is short enough. */
  #fitted(folder: string, ending: string): string {
    const levels = folder.split('/').map((level) => Array.from(level));
    for (;;) {
      const names = this.#namesOf(levels.map((level, at) => level.join('') + (at === levels.length - 1 ? ending : '')));
      const [longest] = levels.toSorted((a, b) => lengthOf(b) - lengthOf(a));
      const isFitting = names.every((name) => Buffer.byteLength(name) <= MAX_NAME_OCTETS);
      if (isFitting || longest === undefined || longest.length <= 1) return names.join('/');
      longest.pop();
    }
  }
}

const keyOf = (path: string): string => path.toLowerCase();
const lengthOf = (level: readonly string[]): number => Buffer.byteLength(level.join(''));

/**
 * Maildir++ directory of a folder, with names in modified UTF-7. Dovecot opens neither a folder with a dot in a level, which
 * separates levels there, however it is written, nor one that begins with '~', and readers of zip archives take a backslash as a
 * slash: all become '_'.
 */
function maildirOfLevels(levels: readonly string[]): string {
  const names = levels.map((level) => toUtf7(level.replaceAll(/[.\\]/g, '_'))).join('.');
  return `.${names.replace(/^~/, '_')}`;
}

/** A name that every file system takes, and that no file of an export in the same directory has. */
function escapedLevel(level: string): string {
  return level
    .replaceAll(
      /[%<>:"\\|?*\x00-\x1f]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .replace(/^\.|[. ]$/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/^(cur|new|tmp)$/i, (name) => `%${name.charCodeAt(0).toString(16).toUpperCase()}${name.slice(1)}`)
    .replace(/\.(sbd|mbox|eml|jsonl?)$/i, '%2E$1');
}
