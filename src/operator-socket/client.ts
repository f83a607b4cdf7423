import { request } from 'node:http';
import { join } from 'node:path';

export type ControlAnswer =
  | { kind: 'done'; result: unknown }
  | { kind: 'refused'; code: string; message: string }
  /** The server is not reachable; `message` has the next step. */
  | { kind: 'unreachable'; message: string };

const TIMEOUT_MS = 60_000;

/**
 * Calls an operation of the server that runs on this data directory, in the operator's organization or in the one with
 * the id `organization`.
 */
export async function callServer(
  dataDir: string,
  operation: string,
  input: object,
  organization?: string,
): Promise<ControlAnswer> {
  const path = socketPath(dataDir);
  const problem = pathProblem(path);
  if (problem !== undefined) return { kind: 'unreachable', message: problem };
  const within = organization === undefined ? '' : `?organization=${encodeURIComponent(organization)}`;
  try {
    return parseReply(await post(path, `/${operation}${within}`, JSON.stringify(input)));
  } catch (error) {
    return { kind: 'unreachable', message: reason(dataDir, error as NodeJS.ErrnoException) };
  }
}

function post(socketPath: string, path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const outgoing = request({ socketPath, path, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text));
      response.on('error', reject);
    });
    outgoing.setTimeout(TIMEOUT_MS, () => outgoing.destroy(new Error('no response within 60 s')));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function parseReply(text: string): ControlAnswer {
  const body = JSON.parse(text) as { result?: unknown; error?: { code: string; message: string } };
  if (body.error !== undefined) return { kind: 'refused', ...body.error };
  return { kind: 'done', result: body.result };
}

function reason(dataDir: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    return (
      `No server runs on the data directory ${dataDir}. Start one with "mailstead serve", ` +
      'or set another directory with --data-dir or MAILSTEAD_DATA_DIR.'
    );
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return `The server's socket in ${dataDir} belongs to another user. Run this command as the user of the server.`;
  }
  return `Failed to call the server in ${dataDir}: ${message}.`;
}

/** sockaddr_un holds 108 octets, the last of them a NUL. */
const MAX_PATH = 107;

/** Path of the operator's socket. */
export function socketPath(dataDir: string): string {
  return join(dataDir, 'control.sock');
}

/** Error message if the path is too long for a socket. */
export function pathProblem(path: string): string | undefined {
  const length = Buffer.byteLength(path);
  if (length <= MAX_PATH) return undefined;
  return `The socket path ${path} has ${length} octets; the limit is ${MAX_PATH}. Set MAILSTEAD_DATA_DIR to a shorter path.`;
}
