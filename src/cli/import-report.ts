import { bytes, printable, table } from './output.ts';

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
}

interface Proof {
  equal: boolean;
  folders: { source: string; folder: string; there: number; here: number; equal: boolean }[];
  differences: { folder: string; uid: number; problem: string }[];
  moreDifferences: number;
}

/** Answer of `get_box_import`. The text of `untrusted` comes from the other server or from the files. */
export interface ImportAnswer {
  import: ImportJob;
  untrusted: { problems: { place: string; problem: string }[]; moreProblems: number; proof?: Proof };
}

/** One line for all running jobs, with a bar when the total is known. */
export function progressLine(jobs: ReadonlyMap<string, ImportJob>, wanted: number): string {
  const all = [...jobs.values()];
  const done = all.reduce((sum, job) => sum + job.imported + job.known + job.skipped, 0);
  const total = all.reduce((sum, job) => sum + (job.total ?? 0), 0);
  const size = all.reduce((sum, job) => sum + job.bytes, 0);
  const share = total === 0 ? 0 : Math.min(1, done / total);
  const bar = `[${'#'.repeat(Math.round(share * 30)).padEnd(30, '.')}]`;
  const ended = all.filter(({ state }) => state !== 'running').length;
  const messages = total === 0 ? `${done} messages` : `${bar} ${done} of ${total} messages`;
  return `${messages}, ${bytes(size)}${wanted > 1 ? `, ${ended} of ${wanted} mailboxes` : ''}`;
}

/** The report of an import that has ended. */
export function importReport({ mailbox, import: job, untrusted }: ImportAnswer & { mailbox: string }): string {
  const { proof, problems, moreProblems } = untrusted;
  const head = `${mailbox}: ${job.state}. ${job.imported} imported (${bytes(job.bytes)}), ${job.known} known before, ${job.skipped} skipped.`;
  const more = moreProblems > 0 ? [`  and ${moreProblems} more`] : [];
  return [
    head,
    ...(job.problem === null ? [] : [printable(job.problem)]),
    ...problems.map(({ place, problem }) => `  ${printable(place)}: ${printable(problem)}`),
    ...more,
    ...(proof === undefined ? [] : [proofOf(proof)]),
  ].join('\n');
}

function proofOf({ equal, folders, differences, moreDifferences }: Proof): string {
  const rows = folders.map((one) => [
    one.source,
    one.folder,
    String(one.there),
    String(one.here),
    one.equal ? 'equal' : 'different',
  ]);
  return [
    table(['folder there', 'folder here', 'there', 'here', 'proof'], rows),
    ...differences.map(({ folder, uid, problem }) => `  ${printable(folder)}, UID ${uid}: ${printable(problem)}`),
    ...(moreDifferences > 0 ? [`  and ${moreDifferences} more`] : []),
    equal
      ? 'Proof: both sides are equal.'
      : 'Proof: the sides differ. Run the import again, then look at what is left.',
  ].join('\n');
}
