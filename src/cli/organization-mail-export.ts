import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { flushDirectory } from '../../mail/backup/flush-file.ts';
import { createDraft, draftOf, finishDraft, ForeignDraft, removeDraft } from '../../mail/transfer/export-draft.ts';
import { ExportPaths } from '../../mail/transfer/export-paths.ts';
import { type ExportJob, runExport } from './export-job.ts';
import { type ExportStep, organizationSteps, writeOrganization } from './organization-export-program.ts';
import { DONE, FAILED, formatBytes, printable, printError, printJson, printLine } from './output.ts';
import type { ProgramInput } from './program.ts';
import { withServer } from './server-call.ts';

/** File of an export with everything but mail; an import of the directory passes over it. */
const EVERYTHING_ELSE = 'mailstead-organization.json';
/** File of an export with the address and path of each mailbox. */
const MAILBOXES = 'mailstead-mailboxes.json';
/** States of accounts that are deleted. */
const DELETED_STATE = 2;

interface OrganizationExport {
  slug: string;
  /** New directory. */
  path: string;
  format: string;
}

interface MailboxExport extends Pick<ExportJob, 'messages' | 'bytes' | 'damaged'> {
  address: string;
  /** Within the directory of the export. */
  path: string;
}

/**
 * Exports the mail of all mailboxes of an organization, and everything else of it as JSON, into a new directory. Until all of it
 * is there the directory has another name. Returns the exit code.
 */
export async function exportOrganizationMail(start: ProgramInput, wanted: OrganizationExport): Promise<number> {
  const { path, slug, format } = wanted;
  const json = start.options.json === true;
  if (existsSync(path)) return printError(`${path} exists. Choose a new directory.`, FAILED);
  const draft = draftOf(path);
  const foreign = await removeOwnDraft(draft);
  if (foreign !== undefined) return printError(foreign, FAILED);
  return withServer(start, async (dataDir) => {
    await using _draft = { [Symbol.asyncDispose]: async () => void (await removeOwnDraft(draft)) };
    const mailboxes: MailboxExport[] = [];
    for (const [address, name] of mailboxPaths(await exportedAddresses(organizationSteps(dataDir, slug)), format)) {
      const request = { address, path: join(draft, name), format, createDirectory: true };
      const { problem, messages, bytes, damaged } = await runExport(dataDir, request, process.stderr.isTTY && !json);
      if (problem !== null) return printError(`${address}: ${printable(problem)}`, FAILED);
      const done = { address, path: name, messages, bytes, damaged };
      mailboxes.push(done);
      if (!json) printMailbox(done);
    }
    if (mailboxes.length === 0) await createDraft(draft);
    await writeFile(join(draft, MAILBOXES), `${JSON.stringify({ mailboxes }, null, 2)}\n`, {
      mode: 0o600,
      flush: true,
    });
    await writeOrganization(dataDir, slug, join(draft, EVERYTHING_ELSE));
    await finishDraft(draft, path);
    await flushDirectory(dirname(path));
    if (json) printJson({ organization: slug, path, format, mailboxes });
    else printLine(`${mailboxes.length} mailboxes and ${EVERYTHING_ELSE} in ${path}`);
    return mailboxes.every(({ damaged }) => damaged.length === 0) ? DONE : FAILED;
  });
}

/** Removes what an interrupted export left. Returns a sentence if something else is there: it stays. */
async function removeOwnDraft(draft: string): Promise<string | undefined> {
  try {
    await removeDraft(draft);
    return undefined;
  } catch (error) {
    if (error instanceof ForeignDraft) return error.message;
    throw error;
  }
}

/**
 * Names of the exports of mailboxes, by address: a directory for a Maildir, an archive for other formats. Each is unlike all others,
 * also where case does not count; an address that no file system takes as it is gives way to one that it takes.
 */
export function mailboxPaths(addresses: readonly string[], format: string): [address: string, name: string][] {
  const paths = new ExportPaths('eml');
  const isPlain = (address: string): boolean => new ExportPaths('eml').pathOf(flatName(address)) === address;
  const sorted = addresses.toSorted();
  const ordered = [...sorted.filter(isPlain), ...sorted.filter((address) => !isPlain(address))];
  const ending = format === 'maildir' ? '' : '.zip';
  return ordered.map((address) => [address, `${paths.pathOf(flatName(address))}${ending}`]);
}

const flatName = (address: string): string => address.replaceAll('/', '_');

/** Addresses of the mailboxes that are not deleted. Reads no further: the sections behind them have many more rows. */
export async function exportedAddresses(steps: AsyncIterable<ExportStep>): Promise<string[]> {
  const found: string[] = [];
  for await (const { section, rows, next } of steps) {
    if (section !== 'mailboxes') continue;
    const present = rows.filter(({ state }) => Number(state) < DELETED_STATE);
    found.push(...present.map(({ address }) => String(address)));
    if (next?.after === undefined) break;
  }
  return found;
}

function printMailbox({ address, messages, bytes, damaged }: MailboxExport): void {
  const lines = damaged.map((one) => `\n  damaged: ${printable(one)}`);
  printLine(`${address}: ${messages} messages, ${formatBytes(bytes)}${lines.join('')}`);
}
