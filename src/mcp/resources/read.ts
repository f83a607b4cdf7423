import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Caller } from '../../operations/caller.ts';
import { visibleTo } from '../../operations/description.ts';
import { operations } from '../../operations/loaded.ts';
import type { Operation } from '../../operations/operation.ts';
import { type Refusal, REFUSALS } from '../../operations/refusal.ts';
import type { World } from '../../operations/world.ts';
import { DOCUMENTS } from './documents.ts';
import { isTemplate, kindOf, KINDS, type ResourceKind } from './kinds.ts';

/** Documents change with the version; mail changes at any time. */
const FRESH = { documents: 3_600_000, mail: 0 };
const PRIVATE = 'private' as const;

/** The fixed resources that a caller can be shown. */
export async function listResources(caller: Caller): Promise<object> {
  const kinds = (await known(caller)).filter((one) => !isTemplate(one));
  const documents = DOCUMENTS.map(({ text: _text, ...shown }) => ({ ...shown, mimeType: 'text/markdown' }));
  return { resources: [...kinds.map(shown), ...documents], ttlMs: FRESH.documents, cacheScope: PRIVATE };
}

export async function listTemplates(caller: Caller): Promise<object> {
  const kinds = (await known(caller)).filter(isTemplate);
  const templates = kinds.map((one) => {
    const { uri: uriTemplate, ...rest } = shown(one);
    return { uriTemplate, ...rest };
  });
  return { resourceTemplates: templates, ttlMs: FRESH.documents, cacheScope: PRIVATE };
}

/** What stands under an address, by the operation that it is, with that operation's limits. */
export async function readResource(world: World, caller: Caller, uri: string): Promise<object> {
  const document = DOCUMENTS.find((one) => one.uri === uri);
  if (document !== undefined) {
    const contents = [{ uri, mimeType: 'text/markdown', text: await document.text() }];
    return { contents, ttlMs: FRESH.documents, cacheScope: PRIVATE };
  }
  const found = kindOf(uri);
  const operation = found && (await operationOf(found.kind));
  if (found === undefined || operation === undefined) throw notThere(uri);
  const { perform } = await operations();
  const outcome = await perform(world, operation, caller, found.kind.args(found.values));
  if (outcome.kind === 'refused') throw refused(outcome.refusal, uri);
  return { contents: [contentOf(uri, found.kind, outcome.result)], ttlMs: FRESH.mail, cacheScope: PRIVATE };
}

/** Octets stay octets, and whose they are stands beside them. */
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

function notThere(uri: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Resource not found', { uri: uri.slice(0, 1000) });
}

/** What there is not and what is named wrongly are one; other refusals keep their words, under the status of REST. */
function refused(refusal: Refusal, uri: string): ProtocolError {
  if (refusal.error === 'not_found' || refusal.error === 'invalid_arguments') return notThere(uri);
  return new ProtocolError(REFUSALS[refusal.error], refusal.message, refusal);
}
