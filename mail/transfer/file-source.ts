import { roleByName } from './folder-names.ts';
import { classify, type SourceFileKind } from './classify.ts';
import type { FileTree, TreeFile } from './file-tree.ts';
import { placeByLabels } from './gmail-labels.ts';
import { type ExportedFolder, type ExportSummary, type ManifestEntry, readManifest, readSummary } from './manifest.ts';
import { maildirFlags, parseKeywords } from './maildir.ts';
import {
  headerFields,
  GMAIL_LABELS,
  KEYWORD_FIELDS,
  MAX_FIELD_HEADER,
  maySenderHaveSet,
  mboxFlags,
} from './mbox-fields.ts';
import { type MboxMessage, MboxReader } from './mbox-reader.ts';
import { ownFields } from './mbox-own-fields.ts';
import type { SourceItem, SourceMessage } from './source-message.ts';

const MAX_KEYWORDS_FILE = 64 * 1024;
const NO_FLAGS = { bits: 0, keywords: [] };

/** The messages of a source in a stable order, with folders and flags as far as the source has them. */
export async function* messagesIn(tree: FileTree): AsyncGenerator<SourceItem> {
  const reader = new TreeReader(tree, await readSummary(tree));
  for await (const file of tree.files()) yield* reader.read(file);
}

class TreeReader {
  readonly #tree: FileTree;
  readonly #summary: ExportSummary | undefined;
  /** Folders of the export by their path. */
  readonly #exported: ReadonlyMap<string, ExportedFolder>;
  #directory: string | undefined;
  #manifest = new Map<string, ManifestEntry>();
  #keywords: string[] = [];

  constructor(tree: FileTree, summary: ExportSummary | undefined) {
    this.#tree = tree;
    this.#summary = summary;
    this.#exported = new Map(summary?.folders.map((one) => [one.path, one]));
  }

  async *read(file: TreeFile): AsyncGenerator<SourceItem> {
    const kind = classify(file.path);
    switch (kind.kind) {
      case 'ignored':
        return;
      case 'maildir':
        return yield { message: await this.#ofMaildir(file, kind) };
      case 'eml':
        return yield { message: await this.#ofEml(file, kind.folder) };
      case 'mbox':
      case 'unknown':
        yield* this.#ofMbox(file, kind);
    }
  }

  async #ofMaildir(
    file: TreeFile,
    { folder, directory }: SourceFileKind & { kind: 'maildir' },
  ): Promise<SourceMessage> {
    await this.#enter(directory);
    const name = file.path.slice(file.path.lastIndexOf('/') + 1);
    const known = this.#manifest.get(name.replace(/[:;!]2,[A-Za-z]*$/, ''));
    const flags = known?.flags ?? maildirFlags(name, this.#keywords);
    return { ...this.#folder(folder, directory), ...known, flags, ...fileFacts(file, known) };
  }

  async #ofEml(file: TreeFile, folder: string): Promise<SourceMessage> {
    const directory = file.path.slice(0, Math.max(0, file.path.lastIndexOf('/')));
    await this.#enter(directory);
    const known = this.#manifest.get(file.path.slice(directory === '' ? 0 : directory.length + 1));
    // The time of a file is that of a copy: the fields of the message are nearer to its arrival.
    const receivedAt = known?.receivedAt;
    return { ...this.#folder(folder, directory), flags: NO_FLAGS, ...known, ...fileFacts(file, known), receivedAt };
  }

  /** Reads what stands beside the messages of a directory, when the first of them comes. */
  async #enter(directory: string): Promise<void> {
    if (this.#directory === directory) return;
    this.#directory = directory;
    const path = directory === '' ? 'dovecot-keywords' : `${directory}/dovecot-keywords`;
    this.#keywords = parseKeywords((await this.#tree.text(path, MAX_KEYWORDS_FILE)) ?? '');
    this.#manifest = this.#summary === undefined ? new Map() : await readManifest(this.#tree, directory);
  }

  /** Name of a folder: as the export says; else with its special use by its name. */
  #folder(folder: string, path: string): Pick<SourceMessage, 'folder' | 'role'> {
    const exported = this.#exported.get(path);
    if (exported !== undefined) return { folder: exported.name, role: exported.role ?? undefined };
    return { folder, role: roleByName(folder) };
  }

  async *#ofMbox(
    file: TreeFile,
    { kind, folder }: SourceFileKind & { kind: 'mbox' | 'unknown' },
  ): AsyncGenerator<SourceItem> {
    if (file.size === 0) return;
    if (kind === 'unknown' && !/^\s*From /.test((await file.head(64)).toString('latin1'))) {
      return yield await unknownFile(file);
    }
    await using octets = await file.random();
    const reader = await MboxReader.open(octets);
    if (reader === undefined) {
      return yield {
        skipped: { place: file.path, problem: 'It does not begin with a From_ line, so it is no mbox file' },
      };
    }
    let number = 0;
    for await (const message of reader.messages()) {
      number++;
      const head = await octets.read(message.start, Math.min(MAX_FIELD_HEADER, message.end - message.start));
      const found = mboxMessage(reader, message, head, this.#folder(folder, file.path));
      if (found !== undefined) yield { message: { ...found, place: `${file.path}, message ${number}` } };
    }
  }
}

function fileFacts(file: TreeFile, known: ManifestEntry | undefined) {
  return { receivedAt: known?.receivedAt ?? file.modifiedAt, place: file.path, octets: file.octets() };
}

/** A file with a header is a message, whatever its name is. */
async function unknownFile(file: TreeFile): Promise<SourceItem> {
  const head = (await file.head(4_096)).toString('latin1');
  if (
    /^(?:Return-Path|Received|Delivered-To|From|Date|Message-ID|Subject|To|MIME-Version):/im.test(
      head.split(/\r?\n\r?\n/, 1)[0] ?? '',
    )
  ) {
    const folder = classify(file.path.replace(/[^/]*$/, 'x.eml'));
    const name = 'folder' in folder ? folder.folder : '';
    const facts = { receivedAt: undefined, place: file.path, octets: file.octets() };
    return { message: { folder: name, role: roleByName(name), flags: NO_FLAGS, ...facts } };
  }
  return { skipped: { place: file.path, problem: 'It is neither a message nor an mbox file' } };
}

/** Undefined: nothing, or a message that Thunderbird has deleted and not compacted yet. */
function mboxMessage(
  reader: MboxReader,
  message: MboxMessage,
  head: Buffer,
  folder: Pick<SourceMessage, 'folder' | 'role'>,
): Omit<SourceMessage, 'place'> | undefined {
  if (message.start >= message.end) return undefined;
  const own = message.exported ? ownFields(head) : undefined;
  if (own !== undefined) {
    const whole = { ...message, start: message.start + own.length };
    return { ...folder, flags: own.flags, receivedAt: own.receivedAt, octets: own.restore(reader.octets(whole)) };
  }
  const fields = headerFields(head);
  const labels = fields.get(GMAIL_LABELS);
  const octets = reader.octets(message);
  const facts = { receivedAt: message.receivedAt, octets };
  if (labels !== undefined) {
    return { ...placeByLabels(labels), ...facts, sendersKeywords: maySenderHaveSet(fields, [GMAIL_LABELS]) };
  }
  const flags = mboxFlags(fields);
  return flags && { ...folder, ...facts, flags, sendersKeywords: maySenderHaveSet(fields, KEYWORD_FIELDS) };
}
