import { createHash } from 'node:crypto';
import { listMailboxes, type MailboxInfo } from '../store/mailbox/mailbox.ts';
import type { MailStore } from '../store/store.ts';
import { accountKeywords, type ExportRow, exportRows } from '../store/transfer/export-rows.ts';
import type { ExportTarget } from './export-target.ts';
import { FromQuoter, withLfEnds } from './mbox-writer.ts';
import { fromLine } from './mbox-line.ts';
import { ExportPaths } from './export-paths.ts';
import { maildirInfo } from './maildir.ts';
import {
  EXPORT_FILE,
  type ExportedFolder,
  type ExportFormat,
  type ExportSummary,
  MANIFEST_FILE,
  type ManifestLine,
} from './manifest.ts';
import { writeOwnFields } from './mbox-own-fields.ts';

const PAGE = 200;
const CHUNK = 1024 * 1024;

/** Counts of an export. */
export interface ExportCounts {
  folders: number;
  messages: number;
  bytes: number;
  /** Messages whose octets could not be read, by folder and UID. */
  damaged: string[];
}

/** The export of one account. */
export interface ExportPlan {
  account: number;
  address: string;
  format: ExportFormat;
  /** Directory within the target; '' for the target itself. */
  below: string;
  /** ms UTC. */
  now: number;
  onProgress?: ((counts: ExportCounts) => void) | undefined;
  stop?: AbortSignal | undefined;
}

/** Writes all mail of an account. The caller finishes the target, or aborts it if this throws. */
export async function exportAccount(store: MailStore, plan: ExportPlan, target: ExportTarget): Promise<ExportCounts> {
  const counts: ExportCounts = { folders: 0, messages: 0, bytes: 0, damaged: [] };
  const folders: ExportedFolder[] = [];
  const all = await store.read(listMailboxes, { account: plan.account });
  const keywords = await store.read(accountKeywords, { account: plan.account });
  const paths = new ExportPaths(plan.format);
  await target.directory(plan.below);
  for (const one of all.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const writer = new FolderWriter(store, plan, target, counts, keywords.slice(0, 26));
    folders.push(await writer.write(one, paths.pathOf(one.name)));
    counts.folders++;
  }
  const summary: ExportSummary = {
    mailstead: 1,
    mailbox: plan.address,
    format: plan.format,
    createdAt: new Date(plan.now).toISOString(),
    folders,
  };
  await target.file(at(plan.below, EXPORT_FILE), lines([JSON.stringify(summary, null, 2)]), plan.now);
  return counts;
}

class FolderWriter {
  readonly #store: MailStore;
  readonly #plan: ExportPlan;
  readonly #target: ExportTarget;
  readonly #counts: ExportCounts;
  readonly #keywords: readonly string[];
  #manifest: string[] = [];
  #messages = 0;

  constructor(
    store: MailStore,
    plan: ExportPlan,
    target: ExportTarget,
    counts: ExportCounts,
    keywords: readonly string[],
  ) {
    this.#store = store;
    this.#plan = plan;
    this.#target = target;
    this.#counts = counts;
    this.#keywords = keywords;
  }

  /** `path`: of the directory of the folder, without an ending. */
  async write(folder: MailboxInfo, path: string): Promise<ExportedFolder> {
    const { format, below, now } = this.#plan;
    if (format === 'mbox') {
      const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
      await this.#target.directory(at(below, parent));
      await this.#target.file(at(below, `${path}.mbox`), this.#mbox(folder), now);
    } else {
      await this.#files(folder, path);
      await this.#target.file(at(below, at(path, MANIFEST_FILE)), lines(this.#manifest), now);
    }
    const exported = format === 'mbox' ? `${path}.mbox` : path;
    return { name: folder.name, role: folder.role, path: exported, messages: this.#messages };
  }

  async #files(folder: MailboxInfo, path: string): Promise<void> {
    const { format, below, now } = this.#plan;
    const sub = format === 'maildir' ? ['cur', 'new', 'tmp'] : [''];
    for (const one of sub) await this.#target.directory(at(below, at(path, one)));
    if (format === 'maildir') {
      const known = this.#keywords.map((word, number) => `${number} ${word}`);
      await this.#target.file(at(below, at(path, 'dovecot-keywords')), lines(known), now);
      if (path !== '') await this.#target.file(at(below, at(path, 'maildirfolder')), lines([]), now);
    }
    for await (const row of this.#rows(folder)) {
      const name = fileName(row, format);
      const file = format === 'maildir' ? `cur/${name}${maildirInfo(row.flags, this.#keywords)}` : name;
      const hash = createHash('sha256');
      const octets = this.#octets(row, folder, (chunk) => hash.update(chunk));
      const shown = format === 'maildir' ? withLfEnds(octets) : octets;
      await this.#target.file(at(below, at(path, file)), shown, row.receivedAt);
      this.#manifest.push(JSON.stringify(manifestLine(name, row, hash.digest('hex'))));
    }
  }

  async *#mbox(folder: MailboxInfo): AsyncGenerator<string | Buffer> {
    for await (const row of this.#rows(folder)) {
      const isOpen = !(await this.#endsWithLine(row));
      yield `${fromLine(row.receivedAt)}\n${writeOwnFields(row.flags, row.receivedAt, isOpen)}`;
      const quoter = new FromQuoter();
      for await (const chunk of withLfEnds(this.#octets(row, folder, () => undefined))) yield quoter.push(chunk);
      yield quoter.end();
      yield isOpen ? '\n\n' : '\n';
    }
  }

  async #endsWithLine({ trace, blob, size }: ExportRow): Promise<boolean> {
    const length = size - trace.length;
    try {
      return (await this.#store.blob(blob, length - 1, 1))[0] === 10;
    } catch {
      // Its octets cannot be read: reported when they are.
      return true;
    }
  }

  async *#rows(folder: MailboxInfo): AsyncGenerator<ExportRow> {
    const { account, stop, onProgress } = this.#plan;
    for (let after = 0; ;) {
      const page = await this.#store.read(exportRows, { account, mailbox: folder.id, after, limit: PAGE });
      for (const row of page) {
        stop?.throwIfAborted();
        yield row;
        this.#messages++;
        this.#counts.messages++;
        this.#counts.bytes += row.size;
        onProgress?.(this.#counts);
      }
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.uid;
    }
  }

  /** The octets of a message. A damaged one ends early and is reported: it does not end the export. */
  async *#octets(
    { uid, trace, blob, size }: ExportRow,
    folder: MailboxInfo,
    onChunk: (chunk: Buffer) => void,
  ): AsyncGenerator<Buffer> {
    const head = Buffer.from(trace, 'latin1');
    onChunk(head);
    if (head.length > 0) yield head;
    const length = size - head.length;
    for (let from = 0; from < length; from += CHUNK) {
      try {
        const chunk = await this.#store.blob(blob, from, Math.min(CHUNK, length - from));
        onChunk(chunk);
        yield chunk;
      } catch (error) {
        this.#counts.damaged.push(`${folder.name}, UID ${uid}: ${(error as Error).message}`);
        return;
      }
    }
  }
}

function manifestLine(file: string, row: ExportRow, sha256: string): ManifestLine {
  const { uid, size, flags, receivedAt } = row;
  const { bits, keywords } = flags;
  return { file, uid, flags: bits, keywords, receivedAt: new Date(receivedAt).toISOString(), size, sha256 };
}

/** Readers of Maildir order messages by the number at the begin: that of the UID, the time is the file's. */
function fileName({ uid }: ExportRow, format: ExportFormat): string {
  return format === 'maildir' ? `${FIRST_NUMBER + uid}.M0P0.mailstead` : `${String(uid).padStart(9, '0')}.eml`;
}

const FIRST_NUMBER = 1_000_000_000;

function at(directory: string, path: string): string {
  return directory === '' ? path : path === '' ? directory : `${directory}/${path}`;
}

async function* lines(all: readonly string[]): AsyncGenerator<string> {
  for (const one of all) yield `${one}\n`;
  if (all.length === 0) yield '';
}
