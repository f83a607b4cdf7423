import { resolve } from 'node:path';
import { type ExportJob, runExport, type WantedExport } from './export-job.ts';
import { exportOrganizationMail } from './organization-mail-export.ts';
import { formatBytes, DONE, FAILED, printable, printError, printJson, printLine, printUsage } from './output.ts';
import type { CliProgram } from './program.ts';
import { withServer } from './server-call.ts';

export const exportMailbox: CliProgram = {
  words: 'export',
  usage: '--mailbox ADDRESS | --org SLUG TARGET [--format maildir|mbox|eml]',
  about: 'Export a mailbox or organization to a new directory (Maildir) or .zip file (EML)',
  options: ['mailbox', 'org', 'format'],
  async run(start) {
    const [target, ...more] = start.args;
    const { mailbox: address, org, format, json } = start.options;
    if (target === undefined || more.length > 0 || (address === undefined) === (org === undefined))
      return printUsage(exportMailbox);
    const path = resolve(target);
    if (org !== undefined) return exportOrganizationMail(start, { slug: org, path, format: format ?? 'maildir' });
    if (address === undefined) return printUsage(exportMailbox);
    const wanted = { address, path, format: format ?? (path.endsWith('.zip') ? 'eml' : 'maildir') };
    return withServer(start, async (dataDir) => {
      const job = await runExport(dataDir, wanted, process.stderr.isTTY && json !== true);
      return printExport(job, wanted, json === true);
    });
  },
};

/** Prints the report of an export that has ended. Returns the exit code. */
function printExport(job: ExportJob, { address, path, format }: WantedExport, json: boolean): number {
  if (json) printJson({ export: { ...job, path, format } });
  else if (job.problem !== null) printError(printable(job.problem), FAILED);
  else {
    const damaged = job.damaged.map((one) => `\n  damaged: ${printable(one)}`);
    printLine(`${address}: ${job.messages} messages, ${formatBytes(job.bytes)}, in ${path}${damaged.join('')}`);
  }
  return job.state === 'done' && job.damaged.length === 0 ? DONE : FAILED;
}
