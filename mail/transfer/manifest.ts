import type { NamedFlags } from '../store/mailbox/flags.ts';
import type { MailboxRole } from '../store/mailbox/mailbox.ts';
import type { FileTree } from './file-tree.ts';

export type ExportFormat = 'mbox' | 'maildir' | 'eml';

/** File at the top of an export. */
export const EXPORT_FILE = 'mailstead-export.json';
/** File in each folder of an export, with one line of JSON for each message. */
export const MANIFEST_FILE = 'manifest.jsonl';

/** A folder of an export. */
export interface ExportedFolder {
  name: string;
  role: MailboxRole | null;
  /** Directory of its files, or its mbox file. */
  path: string;
  messages: number;
}

/** Content of {@link EXPORT_FILE}. */
export interface ExportSummary {
  mailstead: 1;
  mailbox: string;
  format: ExportFormat;
  createdAt: string;
  folders: ExportedFolder[];
}

/** A message in a manifest. */
export interface ManifestLine {
  /** Name of its file; Maildir: without flags. */
  file: string;
  uid: number;
  flags: number;
  keywords: readonly string[];
  /** RFC 3339. */
  receivedAt: string;
  size: number;
  sha256: string;
}

const MAX_SUMMARY = 4 * 1024 * 1024;
/** Octets of a line of a manifest. */
const MAX_LINE = 16 * 1024;
/** Lines of a manifest, and octets of what is held of them while its directory is read: names and different lists of keywords. */
const MAX_LINES = 500_000;
const MAX_OCTETS = 48 * 1024 * 1024;

/** Reads what an export of this program says of itself; undefined: it is none. */
export async function readSummary(tree: FileTree): Promise<ExportSummary | undefined> {
  const text = await tree.text(EXPORT_FILE, MAX_SUMMARY);
  const summary = text === undefined ? undefined : (parse(text) as Partial<ExportSummary> | undefined);
  if (summary?.mailstead !== 1 || !Array.isArray(summary.folders)) return undefined;
  const folders = summary.folders.filter((one) => typeof one?.name === 'string' && typeof one.path === 'string');
  return { ...(summary as ExportSummary), folders };
}

/** Flags and time of an exported message. */
export interface ManifestEntry {
  flags: NamedFlags;
  receivedAt: number;
}

/**
 * Reads the manifest of one directory, by file name. Lines that are not understood are left out. Throws if it is too large to
 * be held: a small archive can have a manifest that ends the process.
 */
export async function readManifest(tree: FileTree, directory: string): Promise<Map<string, ManifestEntry>> {
  const path = directory === '' ? MANIFEST_FILE : `${directory}/${MANIFEST_FILE}`;
  const found = new Map<string, ManifestEntry>();
  const lists = new KeywordLists();
  let lines = 0;
  let octets = 0;
  for await (const line of tree.lines(path, MAX_LINE)) {
    const [file, entry] = entryOf(line, lists) ?? [''];
    lines += 1;
    octets += file.length;
    if (lines > MAX_LINES || octets + lists.octets > MAX_OCTETS) {
      throw new Error(`${path.slice(0, 200)} is too large to be read: import its folder in parts`);
    }
    if (entry !== undefined) found.set(file, entry);
  }
  return found;
}

/** Lists of keywords: entries with the same keywords share one. */
class KeywordLists {
  octets = 0;
  readonly #lists = new Map<string, readonly string[]>();

  of(given: unknown): readonly string[] {
    const words = Array.isArray(given) ? given.filter((word) => typeof word === 'string') : [];
    const key = words.join(' ');
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    this.octets += key.length;
    this.#lists.set(key, words);
    return words;
  }
}

function entryOf(line: string, lists: KeywordLists): [file: string, entry: ManifestEntry] | undefined {
  const one = parse(line) as Partial<ManifestLine> | undefined;
  const receivedAt = Date.parse(String(one?.receivedAt));
  if (typeof one?.file !== 'string' || typeof one.flags !== 'number' || Number.isNaN(receivedAt)) return undefined;
  return [one.file, { flags: { bits: one.flags & 31, keywords: lists.of(one.keywords) }, receivedAt }];
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
