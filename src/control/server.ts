import { unlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { BadInput, Fields } from './fields.ts';
import { type ControlContext, isRefusal } from './operation.ts';
import { findOperation } from './operations.ts';
import { pathProblem, socketPath } from './socket.ts';

const MAX_BODY = 256 * 1024;

interface Answer {
  status: number;
  body: { result: unknown } | { error: { code: string; message: string } };
}

/**
 * Opens the local operator's socket in the data directory: `POST /<operation>` with a JSON object, answered by
 * `{"result"}` or `{"error"}`. Who may open the socket may do everything; its mode 0600 is the only guard.
 */
export async function startControl(dataDir: string, context: ControlContext): Promise<AsyncDisposable> {
  const path = socketPath(dataDir);
  const problem = pathProblem(path);
  if (problem !== undefined) throw new Error(problem);
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    void answer(context, request)
      .catch((error: unknown) => failed(context, error))
      .then((said) => say(response, said));
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

/** What a killed server left behind is in the way; that no other one runs is known by the lock of the data directory. */
async function listen(server: Server, path: string): Promise<void> {
  unlinkIfThere(path);
  // The file gets its mode when it is made: a chmod afterwards would leave a moment for others.
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

async function answer(context: ControlContext, request: IncomingMessage): Promise<Answer> {
  if (request.method !== 'POST') return refused(405, 'invalid', 'Only POST is understood here.');
  const operation = findOperation((request.url ?? '').slice(1));
  if (operation === undefined) {
    return refused(404, 'not_found', 'The server does not know this command: is it older than the command line?');
  }
  const body = await readBody(request);
  if (body === undefined) return refused(413, 'invalid', `The input is longer than ${MAX_BODY} octets.`);
  try {
    const fields = new Fields(parseJson(body));
    const input = operation.input(fields);
    fields.end();
    const outcome = await operation.run(context, input);
    if (isRefusal(outcome)) return refused(409, outcome.code, outcome.message);
    return { status: 200, body: { result: outcome } };
  } catch (error) {
    if (error instanceof BadInput) return refused(400, 'invalid', error.message);
    throw error;
  }
}

function refused(status: number, code: string, message: string): Answer {
  return { status, body: { error: { code, message } } };
}

function failed({ log }: ControlContext, error: unknown): Answer {
  log.error({ err: error }, 'an operation of the local operator failed');
  return refused(500, 'failed', 'The server failed to do this; its log says why.');
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    throw new BadInput('The input is not JSON.');
  }
}

function say(response: ServerResponse, { status, body }: Answer): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(text);
}
