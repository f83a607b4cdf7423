import { formatBytes, printable, formatTable } from './output.ts';

export interface ImportJob {
  importId: string;
  state: string;
  imported: number;
  known: number;
  skipped: number;
  bytes: number;
  total: number | null;
  folder: string | null;
  problem: string | null;
  /** It waits until then for its server; missing in answers of older versions. */
  nextAttemptAt?: string | null;
}

interface Proof {
  equal: boolean;
  /** Missing in reports of older versions. */
  omitted?: { problem: string; count: number; folders: string[] }[];
  folders: { source: string; folder: string; there: number; here: number; changedHere?: number; equal: boolean }[];
  differences: { folder: string; uid: number; problem: string }[];
  moreDifferences: number;
}

/** Answer of `get_box_import`. The text of `untrusted` comes from the other server or from the files. */
export interface ImportAnswer {
  import: ImportJob;
  untrusted: { problems: { place: string; problem: string }[]; moreProblems: number; proof?: Proof };
}

/** One line for all running jobs, with a bar when the total is known. */
export function progressLine(all: readonly ImportJob[], wanted: number): string {
  const done = all.reduce((sum, job) => sum + job.imported + job.known + job.skipped, 0);
  const total = all.reduce((sum, job) => sum + (job.total ?? 0), 0);
  const size = all.reduce((sum, job) => sum + job.bytes, 0);
  const share = total === 0 ? 0 : Math.min(1, done / total);
  const bar = `[${'#'.repeat(Math.round(share * 30)).padEnd(30, '.')}]`;
  const ended = all.filter(({ state }) => state !== 'running').length;
  const messages = total === 0 ? `${done} messages` : `${bar} ${done} of ${total} messages`;
  return `${messages}, ${formatBytes(size)}${wanted > 1 ? `, ${ended} of ${wanted} mailboxes` : ''}`;
}

/** True: the import waits before it goes on. */
export const isWaiting = ({ nextAttemptAt = null }: ImportJob): boolean => nextAttemptAt !== null;

/** Why an import waits, and what to do if it should not. */
export function waitLine(mailbox: string, { importId, problem, nextAttemptAt }: ImportJob): string {
  const cancel = `mailstead call cancel_import importId=${importId}`;
  return `${printable(mailbox)}: ${printable(problem ?? 'It waits.')} Next attempt: ${nextAttemptAt ?? ''}. This command may be ended meanwhile. To cancel: ${cancel}`;
}

/** The report of an import that has ended. */
export function importReport({
  line,
  mailbox,
  import: job,
  untrusted,
}: ImportAnswer & { mailbox: string; line?: number }): string {
  const { proof, problems, moreProblems } = untrusted;
  const place = line === undefined ? mailbox : `line ${line}, ${mailbox}`;
  const head = `${place}: ${job.state}. ${job.imported} imported (${formatBytes(job.bytes)}), ${job.known} known before, ${job.skipped} skipped.`;
  const more = moreProblems > 0 ? [`  and ${moreProblems} more`] : [];
  return [
    head,
    ...(job.problem === null ? [] : [printable(job.problem)]),
    ...problems.map(({ place, problem }) => `  ${printable(place)}: ${printable(problem)}`),
    ...more,
    ...(proof === undefined ? [] : [proofOf(proof)]),
  ].join('\n');
}

function proofOf({ equal, omitted = [], folders, differences, moreDifferences }: Proof): string {
  const rows = folders.map((one) => [
    one.source,
    one.folder,
    String(one.there),
    String(one.here),
    [one.equal ? 'equal' : 'different', ...(one.changedHere ? [`${one.changedHere} changed here since`] : [])].join(
      ', ',
    ),
  ]);
  return [
    formatTable(['folder there', 'folder here', 'there', 'here', 'proof'], rows),
    ...differences.map(({ folder, uid, problem }) => `  ${printable(folder)}, UID ${uid}: ${printable(problem)}`),
    ...(moreDifferences > 0 ? [`  and ${moreDifferences} more`] : []),
    ...omitted.map(({ problem, count, folders: names }) => `  ${omittedText(names, count)}: ${printable(problem)}.`),
    verdict(
      equal,
      omitted.length > 0,
      folders.reduce((sum, one) => sum + (one.changedHere ?? 0), 0),
    ),
  ].join('\n');
}

function verdict(equal: boolean, isIncomplete: boolean, changed: number): string {
  if (isIncomplete) return 'Proof: incomplete, not equal. Folders of the other server were not pulled.';
  if (equal && changed === 0) return 'Proof: both sides are equal.';
  if (equal) {
    return `Proof: both sides are equal, except for ${changed} ${changed === 1 ? 'message' : 'messages'} changed or deleted here since the copy (--json lists them).`;
  }
  return 'Proof: the sides differ. Run the import again, then look at what is left.';
}

/** "3 folders not pulled (a, b and 1 more)". */
function omittedText(names: readonly string[], count: number): string {
  const more = count > names.length ? [`${count - names.length} more`] : [];
  return `${count} ${count === 1 ? 'folder' : 'folders'} not pulled (${[...names.map(printable), ...more].join(', ')})`;
}
