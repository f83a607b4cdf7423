import { open as openFile, stat } from 'node:fs/promises';
import type { MailStore } from '../store/store.ts';
import { acceptedFolder } from './folder-names.ts';
import { DirectoryTree, type FileTree, SingleFile } from './file-tree.ts';
import { messagesIn } from './file-source.ts';
import { Importer, type ImportOutcome } from './importer.ts';
import type { ImportLog } from './import-log.ts';
import type { SourceMessage } from './source-message.ts';
import { ZipTree } from './zip-tree.ts';

/** The import of one source into one account. */
export interface FileImport {
  account: number;
  path: string;
  /** Name of an uploaded file; undefined: that of the path. */
  name?: string | undefined;
  /** Folder that the folders of the source are imported below; undefined: INBOX for messages without a folder. */
  folder: string | undefined;
  /** Directory for what must be unpacked. */
  spool: string;
  maxOctets: number;
  /** Greater than that of any former pass. */
  pass: number;
  clock: () => number;
  stop: AbortSignal;
}

/** Imports a file, a directory or a zip archive. Throws if the source cannot be read; its messages stay. */
export async function importFiles(store: MailStore, given: FileImport, log: ImportLog): Promise<void> {
  await using tree = await openTree(given);
  const importer = new Importer(store, given);
  const folders = new Map<string, { id: number; name: string }>();
  for await (const item of messagesIn(tree)) {
    given.stop.throwIfAborted();
    if ('skipped' in item) {
      log.skip(item.skipped.place, item.skipped.problem);
      continue;
    }
    const { message } = item;
    // One file with a folder named for it goes there itself; the folders of a tree go below it.
    const source = given.folder !== undefined && tree instanceof SingleFile ? { folder: '', role: undefined } : message;
    const target = await folderFor(importer, folders, source, given.folder);
    if (target === undefined) {
      log.skip(message.place, 'The mailbox has as many folders as it can: delete some, then import again');
      continue;
    }
    await importer.add({ ...message, mailbox: target.id, remote: null }, (outcome, _hash, size) =>
      report(log, target.name, message, outcome, size),
    );
  }
  await importer.flush();
}

/** Opens a source by what it is. */
async function openTree({ path, name, spool }: FileImport): Promise<FileTree> {
  if ((await stat(path)).isDirectory()) return new DirectoryTree(path);
  const head = await headOf(path);
  if (head.startsWith('PK\x03\x04') || head.startsWith('PK\x05\x06')) return ZipTree.open(path, spool);
  if (head.startsWith('\x1f\x8b')) throw new Error('It is compressed with gzip: unpack it, then import the result');
  return new SingleFile(path, name);
}

async function headOf(path: string): Promise<string> {
  await using file = await openFile(path, 'r');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
  return buffer.toString('latin1', 0, bytesRead);
}

/** Folder of a message. Special folders keep their use unless the import names a folder. */
async function folderFor(
  importer: Importer,
  known: Map<string, { id: number; name: string }>,
  { folder, role }: Pick<SourceMessage, 'folder' | 'role'>,
  below: string | undefined,
): Promise<{ id: number; name: string } | undefined> {
  const own = folder === '' ? [] : [folder];
  // By the accepted name, which is short: an archive can name more folders than a mailbox has.
  const name = acceptedFolder(below === undefined ? (own[0] ?? 'INBOX') : [below, ...own].join('/'));
  const key = `${role ?? ''}/${name}`;
  if (known.has(key)) return known.get(key);
  const found = await importer.folder(name, below === undefined ? role : undefined);
  if (found === undefined) return undefined;
  known.set(key, found);
  return found;
}

function report(
  log: ImportLog,
  folder: string,
  { place, note }: SourceMessage,
  outcome: ImportOutcome,
  size: number,
): void {
  if (outcome.kind === 'imported') {
    log.imported(folder, size);
    if (note !== undefined) log.note(place, note);
  } else if (outcome.kind === 'known') log.known(folder);
  else log.skip(place, importProblem(outcome));
}

/** Reason why a message was not imported, with the next step. */
export function importProblem(outcome: Exclude<ImportOutcome, { kind: 'imported' | 'known' }>): string {
  switch (outcome.kind) {
    case 'empty':
      return 'It is empty';
    case 'too-big':
      return 'It is larger than MAILSTEAD_MAX_MESSAGE_BYTES: raise it, then import again';
    case 'over-quota':
      return 'The mailbox is full: raise its quota, then import again';
    case 'too-many-keywords':
      return 'It has too many keywords';
    case 'missing':
      return 'Its folder was deleted meanwhile: import again';
    case 'unreadable':
      return `It could not be read: ${outcome.why}`;
    case 'forbidden':
      return outcome.why;
  }
}
