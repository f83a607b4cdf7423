import { unlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { OPERATOR } from '../../mail/store/account.ts';
import { rowId } from '../ids.ts';
import { operatorCaller } from '../operations/caller.ts';
import type { Operation } from '../operations/operation.ts';
import { REFUSALS } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { findOrganization } from '../organizations/commands.ts';
import { pathProblem, socketPath } from './socket.ts';

const MAX_BODY = 256 * 1024;

interface Answer {
  status: number;
  body: { result: unknown } | { error: { code: string; message: string } };
}

/**
 * Opens the local operator's socket in the data directory: `POST /<operation>` with a JSON object, answered by
 * `{"result"}` or `{"error"}`. Who may open the socket may do everything, on the box and in any organization, which
 * `?organization=` names; the rows stand in the audit log of that one. The socket's mode 0600 is the only guard.
 */
export async function startControl(dataDir: string, world: World): Promise<AsyncDisposable> {
  const path = socketPath(dataDir);
  const problem = pathProblem(path);
  if (problem !== undefined) throw new Error(problem);
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    void answer(world, request)
      .catch((error: unknown) => failed(world, error))
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

async function answer(world: World, request: IncomingMessage): Promise<Answer> {
  if (request.method !== 'POST') return refused(405, 'invalid_arguments', 'Only POST is understood here.');
  // At first use: most boxes are never asked.
  const [{ findOperation }, { findBoxOperation }, { perform }] = await Promise.all([
    import('../operations/catalogue.ts'),
    import('../operations/box/index.ts'),
    import('../operations/perform.ts'),
  ]);
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://socket');
  const name = pathname.slice(1);
  const operation = findBoxOperation(name) ?? findOperation(name);
  if (operation === undefined) {
    const message = 'The server does not know this command: see mailstead tools. Is it older than the command line?';
    return refused(404, 'not_found', message);
  }
  const organization = await organizationOf(world, operation, searchParams.get('organization'));
  if (typeof organization === 'string') return refused(404, 'not_found', organization);
  const body = await readBody(request);
  if (body === undefined) return refused(413, 'too_large', `The input is longer than ${MAX_BODY} octets.`);
  const input = parseJson(body);
  if (input === undefined) return refused(400, 'invalid_arguments', 'The input is not JSON.');
  const outcome = await perform(world, operation, operatorCaller(organization), input);
  if (outcome.kind === 'done') return { status: 200, body: { result: outcome.result } };
  return refused(REFUSALS[outcome.refusal.error], outcome.refusal.error, outcome.refusal.message);
}

/** Where the operator acts, or a sentence. */
async function organizationOf(
  { store }: World,
  { name, socketOnly }: Operation,
  given: string | null,
): Promise<number | string> {
  if (given === null) return OPERATOR;
  if (socketOnly === true) return `${name} is about the whole box: leave the organization out.`;
  const id = rowId('organization', given);
  const found = id === undefined ? undefined : await store.read(findOrganization, { id });
  return found?.id ?? `There is no organization ${given}: mailstead org list shows them.`;
}

function refused(status: number, code: string, message: string): Answer {
  return { status, body: { error: { code, message } } };
}

function failed({ log }: World, error: unknown): Answer {
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

/** Undefined: it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return undefined;
  }
}

function say(response: ServerResponse, { status, body }: Answer): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(text);
}
