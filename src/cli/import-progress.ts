import { setTimeout as delay } from 'node:timers/promises';
import { type ImportAnswer, type ImportJob, importReport, progressLine } from './import-report.ts';
import { DONE, FAILED, printJson, printLine } from './output.ts';
import { callOperation } from './server-call.ts';

const POLL_MS = 500;
/** Imports of one command that run at the same time. */
const AT_ONCE = 4;

/** An import to start. */
export interface WantedImport {
  operation: string;
  address: string;
  input: object;
}

/** Starts jobs, a few at a time, shows their progress, and prints their reports. Fails if one failed or differs. */
export async function followImports(dataDir: string, wanted: readonly WantedImport[], json: boolean): Promise<number> {
  const results: (ImportAnswer & { mailbox: string })[] = [];
  const left = [...wanted];
  const progress = new Map<string, ImportJob>();
  const isShown = process.stderr.isTTY && !json;
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, wanted.length) }, async () => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) {
        const { address } = one;
        const done = await oneJob(dataDir, one, (job) => {
          progress.set(address, job);
          if (isShown) process.stderr.write(`\r\x1b[K${progressLine(progress, wanted.length)}`);
        });
        results.push({ mailbox: address, ...done });
      }
    }),
  );
  if (isShown) process.stderr.write('\r\x1b[K');
  const isGood = results.every((one) => one.import.state === 'done' && one.untrusted.proof?.equal !== false);
  if (json) printJson({ imports: results });
  else for (const one of results) printLine(importReport(one));
  return isGood ? DONE : FAILED;
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
