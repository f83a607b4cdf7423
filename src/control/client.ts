import { request } from 'node:http';
import { pathProblem, socketPath } from './socket.ts';

export type ControlAnswer =
  | { kind: 'done'; result: unknown }
  | { kind: 'refused'; code: string; message: string }
  /** The server was not reached; the sentence says what to do. */
  | { kind: 'unreachable'; message: string };

const PATIENCE_MS = 60_000;

/**
 * Asks the server that runs on this data directory to do something: in the operator's organization, or in the one that
 * `organization` is the id of.
 */
export async function askServer(
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
    return understood(await post(path, `/${operation}${within}`, JSON.stringify(input)));
  } catch (error) {
    return { kind: 'unreachable', message: reason(dataDir, error as NodeJS.ErrnoException) };
  }
}

function post(socketPath: string, path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const asked = request({ socketPath, path, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text));
      response.on('error', reject);
    });
    asked.setTimeout(PATIENCE_MS, () => asked.destroy(new Error('no answer came')));
    asked.on('error', reject);
    asked.end(body);
  });
}

function understood(text: string): ControlAnswer {
  const body = JSON.parse(text) as { result?: unknown; error?: { code: string; message: string } };
  if (body.error !== undefined) return { kind: 'refused', ...body.error };
  return { kind: 'done', result: body.result };
}

function reason(dataDir: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    return (
      `No Mailstead runs on the data directory ${dataDir}: start one with "mailstead serve", ` +
      'or name another directory with --data-dir or MAILSTEAD_DATA_DIR.'
    );
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return `The server's socket in ${dataDir} belongs to another user: run this command as the one that runs the server.`;
  }
  return `The server in ${dataDir} could not be asked: ${message}.`;
}
