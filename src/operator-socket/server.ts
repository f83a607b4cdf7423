import { unlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { OPERATOR } from '../../mail/store/account/account.ts';
import { rowId } from '../core/ids.ts';
import { operatorCaller } from '../core/caller.ts';
import type { Operation } from '../core/operation.ts';
import { REFUSALS } from '../core/refusal.ts';
import type { AppContext } from '../core/app-context.ts';
import { findOrganization } from '../organizations/commands.ts';
import { pathProblem, socketPath } from './client.ts';

const MAX_BODY = 256 * 1024;

interface ControlReply {
  status: number;
  body: { result: unknown } | { error: { code: string; message: string } };
}

/**
 * Opens the operator's Unix socket in the data directory: `POST /<operation>` with a JSON object returns `{"result"}` or
 * `{"error"}`. A client of the socket may call every operation, in any organization (`?organization=`), recorded in the
 * audit log of that organization. The socket's mode 0600 is the only access control.
 */
export async function startControlServer(dataDir: string, context: AppContext): Promise<AsyncDisposable> {
  const path = socketPath(dataDir);
  const problem = pathProblem(path);
  if (problem !== undefined) throw new Error(problem);
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    void handle(context, request)
      .catch((error: unknown) => failed(context, error))
      .then((reply) => sendReply(response, reply));
  });
  await listen(server, path);
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve)); // removes the socket file
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Removes the socket of a killed server. The lock of the data directory excludes a running one. */
async function listen(server: Server, path: string): Promise<void> {
  unlinkIfThere(path);
  // umask, because a chmod after creation leaves a moment for other users (race).
  const umask = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
      process.umask(umask);
    });
  } finally {
    process.umask(umask);
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function handle(context: AppContext, request: IncomingMessage): Promise<ControlReply> {
  if (request.method !== 'POST') return refused(405, 'invalid_arguments', 'Method not allowed. Use POST.');
  // Loaded at first use: most servers never get a command.
  const [{ findOperation }, { findBoxOperation }, { perform }] = await Promise.all([
    import('../operations/catalogue.ts'),
    import('../operations/operator/index.ts'),
    import('../operations/perform.ts'),
  ]);
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://socket');
  const name = pathname.slice(1);
  const operation = findBoxOperation(name) ?? findOperation(name);
  if (operation === undefined) {
    const message = 'Unknown operation. See mailstead tools; the server may be older than the command line.';
    return refused(404, 'not_found', message);
  }
  const organization = await organizationOf(context, operation, searchParams.get('organization'));
  if (typeof organization === 'string') return refused(404, 'not_found', organization);
  const body = await readBody(request);
  if (body === undefined) return refused(413, 'too_large', `The input exceeds ${MAX_BODY} octets.`);
  const input = parseJson(body);
  if (input === undefined) return refused(400, 'invalid_arguments', 'The input is not JSON.');
  const outcome = await perform(context, operation, operatorCaller(organization), input);
  if (outcome.kind === 'done') return { status: 200, body: { result: outcome.result } };
  return refused(REFUSALS[outcome.refusal.error], outcome.refusal.error, outcome.refusal.message);
}

/** Id of the organization to act in, or an error message. */
async function organizationOf(
  { store }: AppContext,
  { name, socketOnly }: Operation,
  given: string | null,
): Promise<number | string> {
  if (given === null) return OPERATOR;
  if (socketOnly === true) return `${name} applies to the whole server. Omit the organization.`;
  const id = rowId('organization', given);
  const found = id === undefined ? undefined : await store.read(findOrganization, { id });
  return found?.id ?? `Unknown organization ${given}. List them with mailstead org list.`;
}

function refused(status: number, code: string, message: string): ControlReply {
  return { status, body: { error: { code, message } } };
}

function failed({ log }: AppContext, error: unknown): ControlReply {
  log.error({ err: error }, 'operator command failed');
  return refused(500, 'failed', 'Internal error; see the server log.');
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Undefined if not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return undefined;
  }
}

function sendReply(response: ServerResponse, { status, body }: ControlReply): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(text);
}
