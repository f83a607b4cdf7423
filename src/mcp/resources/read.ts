import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/caller.ts';
import { visibleTo } from '../../operations/description.ts';
import { operations } from '../../operations/lazy-catalogue.ts';
import type { Operation } from '../../core/operation.ts';
import { type Refusal, REFUSALS } from '../../core/refusal.ts';
import type { AppContext } from '../../core/app-context.ts';
import { isTemplate, kindOf, KINDS, type ResourceKind } from './kinds.ts';
import { readFile } from 'node:fs/promises';

const DOCS = new URL('../../../docs/', import.meta.url);

/** A documentation resource for agents. */
interface AgentDocument {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly text: () => Promise<string>;
}

const page = (name: string) => (): Promise<string> => readFile(new URL(name, DOCS), 'utf8');

const DOCUMENTS: readonly AgentDocument[] = [
  {
    uri: 'docs://guide',
    name: 'guide',
    title: 'Guide',
    description: 'From no account to a mailbox that sends and receives.',
    text: page('quickstart-agent.md'),
  },
  {
    uri: 'docs://errors',
    name: 'errors',
    title: 'Refusals',
    description: 'Format of refusals, and all codes.',
    text: async () => errorsText(),
  },
  {
    uri: 'docs://safety',
    name: 'safety',
    title: 'Reading safely',
    description: 'How untrusted text is marked, and what is never trusted.',
    text: page('reading.md'),
  },
];

function errorsText(): string {
  return [
    '# Refusals',
    '',
    'Every refusal is one object: `{"error": "<code>", "message": "<what to do next>", "requestId": "req_..."}`. Tools return it with `isError`, REST with a status. Do what the message says; with `retryAfterSeconds` come back after that time, and with `issues` change the arguments that are named.',
    '',
    '| code | status |',
    '|---|---|',
    ...Object.entries(REFUSALS).map(([code, status]) => `| ${code} | ${status} |`),
    '',
  ].join('\n');
}

/** Cache lifetimes, ms: documents change with the version, mail at any time. */
const TTL = { documents: 3_600_000, mail: 0 };
const PRIVATE = 'private' as const;

/** Fixed resources visible to the caller. */
export async function listResources(caller: Caller): Promise<object> {
  const kinds = (await known(caller)).filter((one) => !isTemplate(one));
  const documents = DOCUMENTS.map(({ text: _text, ...shown }) => ({ ...shown, mimeType: 'text/markdown' }));
  return { resources: [...kinds.map(shown), ...documents], ttlMs: TTL.documents, cacheScope: PRIVATE };
}

export async function listResourceTemplates(caller: Caller): Promise<object> {
  const kinds = (await known(caller)).filter(isTemplate);
  const templates = kinds.map((one) => {
    const { uri: uriTemplate, ...rest } = shown(one);
    return { uriTemplate, ...rest };
  });
  return { resourceTemplates: templates, ttlMs: TTL.documents, cacheScope: PRIVATE };
}

/** Reads a resource by calling its operation. */
export async function readResource(context: AppContext, caller: Caller, uri: string): Promise<object> {
  const document = DOCUMENTS.find((one) => one.uri === uri);
  if (document !== undefined) {
    const contents = [{ uri, mimeType: 'text/markdown', text: await document.text() }];
    return { contents, ttlMs: TTL.documents, cacheScope: PRIVATE };
  }
  const found = kindOf(uri);
  const operation = found && (await operationOf(found.kind));
  if (found === undefined || operation === undefined) throw notFound(uri);
  const { perform } = await operations();
  const outcome = await perform(context, operation, caller, found.kind.args(found.values));
  if (outcome.kind === 'refused') throw refused(outcome.refusal, uri);
  return { contents: [contentOf(uri, found.kind, outcome.result)], ttlMs: TTL.mail, cacheScope: PRIVATE };
}

/** Raw content as a base64 blob, marked untrusted. */
function contentOf(uri: string, { mimeType }: ResourceKind, result: Record<string, unknown>): object {
  if (mimeType === 'application/json') return { uri, mimeType, text: JSON.stringify(result) };
  const { octets: blob, source } = result;
  return { uri, mimeType, blob, _meta: { 'dev.mailstead/untrusted': { untrusted: true, source } } };
}

async function known(caller: Caller): Promise<ResourceKind[]> {
  const found = await Promise.all(KINDS.map(async (kind) => [kind, await operationOf(kind)] as const));
  return found.flatMap(([kind, operation]) => (operation !== undefined && visibleTo(operation, caller) ? [kind] : []));
}

async function operationOf({ operation }: ResourceKind): Promise<Operation | undefined> {
  return typeof operation === 'string' ? (await operations()).findOperation(operation) : operation;
}

function shown({ uri, name, title, description, mimeType }: ResourceKind) {
  return { uri, name, title, description, mimeType };
}

function notFound(uri: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Resource not found', { uri: uri.slice(0, 1000) });
}

/** Maps not_found and invalid_arguments to one error; others keep their message, with the REST status as code. */
function refused(refusal: Refusal, uri: string): ProtocolError {
  if (refusal.error === 'not_found' || refusal.error === 'invalid_arguments') return notFound(uri);
  return new ProtocolError(REFUSALS[refusal.error], refusal.message, refusal);
}
