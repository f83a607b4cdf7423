import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bytes, DONE, FAILED, printable, printError, printJson, printLine, printUsage } from './output.ts';
import type { CliProgram } from './program.ts';
import { callOperation, withServer } from './server-call.ts';

const POLL_MS = 500;

interface ExportJob {
  exportId: string;
  state: string;
  messages: number;
  bytes: number;
  damaged: string[];
  problem: string | null;
}

/** An export to start: `path` is absolute. */
interface WantedExport {
  address: string;
  path: string;
  format: string;
}

export const exportMailbox: CliProgram = {
  words: 'export',
  usage: '--mailbox ADDRESS TARGET [--format maildir|mbox|eml]',
  about: 'Export a mailbox to a new directory (Maildir) or a new .zip file (EML)',
  options: ['mailbox', 'format'],
  async run(start) {
    const [target, ...more] = start.args;
    const { mailbox: address, format, json } = start.options;
    if (target === undefined || more.length > 0 || address === undefined) return printUsage(exportMailbox);
    const path = resolve(target);
    const wanted = { address, path, format: format ?? (path.endsWith('.zip') ? 'eml' : 'maildir') };
    return withServer(start, async (dataDir) => {
      const job = await runExport(dataDir, wanted, process.stderr.isTTY && json !== true);
      return printExport(job, wanted, json === true);
    });
  },
};

async function runExport(dataDir: string, wanted: WantedExport, isShown: boolean): Promise<ExportJob> {
  let { export: job } = await callOperation<{ export: ExportJob }>(dataDir, 'export_box_mailbox', wanted);
  const { exportId } = job;
  while (job.state === 'running') {
    await delay(POLL_MS);
    ({ export: job } = await callOperation<{ export: ExportJob }>(dataDir, 'get_box_export', { exportId }));
    if (isShown) process.stderr.write(`\r\x1b[K${job.messages} messages`);
  }
  if (isShown) process.stderr.write('\r\x1b[K');
  return job;
}

/** Prints the report of an export that has ended. Returns the exit code. */
function printExport(job: ExportJob, { address, path, format }: WantedExport, json: boolean): number {
  if (json) printJson({ export: { ...job, path, format } });
  else if (job.problem !== null) printError(printable(job.problem), FAILED);
  else {
    const damaged = job.damaged.map((one) => `\n  damaged: ${printable(one)}`);
    printLine(`${address}: ${job.messages} messages, ${bytes(job.bytes)}, in ${path}${damaged.join('')}`);
  }
  return job.state === 'done' && job.damaged.length === 0 ? DONE : FAILED;
}
