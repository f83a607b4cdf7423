import { setTimeout as delay } from 'node:timers/promises';
import { callOperation } from './server-call.ts';

const POLL_MS = 500;

/** An export of the server, as it reports it. */
export interface ExportJob {
  exportId: string;
  state: string;
  messages: number;
  bytes: number;
  damaged: string[];
  problem: string | null;
}

/** An export to start: `path` is absolute. */
export interface WantedExport {
  address: string;
  path: string;
  format: string;
  /** The server creates the directory of the path. */
  createDirectory?: boolean;
}

/** Runs an export to its end. `isShown`: its progress is shown on the terminal. */
export async function runExport(dataDir: string, wanted: WantedExport, isShown: boolean): Promise<ExportJob> {
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
