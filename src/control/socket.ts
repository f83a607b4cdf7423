import { join } from 'node:path';

/** sockaddr_un holds 108 octets, the last of them a NUL. */
const MAX_PATH = 107;

/** Where the local operator's commands reach the server. */
export function socketPath(dataDir: string): string {
  return join(dataDir, 'control.sock');
}

/** A sentence when no socket can have this path. */
export function pathProblem(path: string): string | undefined {
  const length = Buffer.byteLength(path);
  if (length <= MAX_PATH) return undefined;
  return `The path ${path} has ${length} octets, and a socket can have ${MAX_PATH}: give MAILSTEAD_DATA_DIR a shorter path.`;
}
