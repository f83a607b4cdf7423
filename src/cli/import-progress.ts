import { setTimeout as delay } from 'node:timers/promises';
import { type ImportAnswer, type ImportJob, importReport, isWaiting, progressLine, waitLine } from './import-report.ts';
import { DONE, FAILED, printable, printJson, printLine } from './output.ts';
import { callOperation } from './server-call.ts';

const POLL_MS = 500;
/** Imports of one command that run at the same time. */
const AT_ONCE = 4;
/** Imports beside which others are started, as they wait for their server. */
const MAX_WAITING = 50;

/** An import to start. */
export interface WantedImport {
  operation: string;
  address: string;
  input: object;
  /** Line of the CSV file that names it; undefined: it is the only one. */
  line?: number | undefined;
}

/** A line of the CSV file whose import did not run to its end. */
interface FailedLine {
  line: number;
  mailbox: string | null;
  error: { code: string; message: string };
}

type EndedImport = ImportAnswer & { mailbox: string; line?: number };

/**
 * Starts jobs, a few at a time, shows their progress, and prints their reports. A line of a CSV file that fails does not
 * end the others. Fails if one failed or differs.
 */
export async function followImports(
  dataDir: string,
  wanted: readonly WantedImport[],
  json: boolean,
  badLines: readonly { line: number; problem: string }[] = [],
): Promise<number> {
  const failed: FailedLine[] = badLines.map(({ line, problem }) => ({
    line,
    mailbox: null,
    error: { code: 'invalid_line', message: problem },
  }));
  const ended: EndedImport[] = [];
  const left = [...wanted];
  const progress = new Map<WantedImport, ImportJob>();
  const isShown = process.stderr.isTTY && !json;
  const workers: Promise<void>[] = [];
  const work = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const job = one;
      const { address: mailbox, line } = one;
      let printed: string | null = null;
      try {
        const done = await oneJob(dataDir, one, (now) => {
          progress.set(job, now);
          if (isWaiting(now) && now.problem !== printed) {
            if (printed === null && workers.length < AT_ONCE + MAX_WAITING) workers.push(work());
            printed = now.problem;
            process.stderr.write(`${isShown ? '\r\x1b[K' : ''}${waitLine(mailbox, now)}\n`);
          }
          if (isShown) process.stderr.write(`\r\x1b[K${progressLine([...progress.values()], wanted.length)}`);
        });
        ended.push({ ...(line !== undefined && { line }), mailbox, ...done });
      } catch (error) {
        if (line === undefined) throw error;
        const { code = 'error', message } = error as Error & { code?: string };
        failed.push({ line, mailbox, error: { code, message } });
      }
    }
  };
  for (let n = 0; n < Math.min(AT_ONCE, wanted.length); n++) workers.push(work());
  // An import that waits adds a worker.
  for (const worker of workers) await worker;
  if (isShown) process.stderr.write('\r\x1b[K');
  const results = [...ended, ...failed].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const isGood =
    failed.length === 0 && ended.every((one) => one.import.state === 'done' && one.untrusted.proof?.equal !== false);
  if (json) printJson({ imports: results });
  else for (const one of results) printLine('error' in one ? failureReport(one) : importReport(one));
  if (!json && wanted.length + badLines.length > 1) printLine(summary(ended, failed));
  return isGood ? DONE : FAILED;
}

function failureReport({ line, mailbox, error }: FailedLine): string {
  return `line ${line}${mailbox === null ? '' : `, ${printable(mailbox)}`}: failed. ${printable(error.message)}`;
}

function summary(ended: readonly EndedImport[], failed: readonly FailedLine[]): string {
  const done = ended.filter((one) => one.import.state === 'done').length;
  const all = ended.length + failed.length;
  return `${done} of ${all} imports are done${done === all ? '.' : `, ${all - done} failed: correct them, then run the command again. What is here is not copied twice.`}`;
}

async function oneJob(
  dataDir: string,
  { operation, address, input }: WantedImport,
  onProgress: (job: ImportJob) => void,
): Promise<ImportAnswer> {
  const started = await callOperation<{ import: ImportJob }>(dataDir, operation, { address, ...input });
  for (;;) {
    const now = await callOperation<ImportAnswer>(dataDir, 'get_box_import', {
      address,
      importId: started.import.importId,
    });
    onProgress(now.import);
    if (now.import.state !== 'running') return now;
    await delay(POLL_MS);
  }
}
