import { inputSchema, outputSchema } from '../operations/description.ts';
import type { Operation } from '../operations/operation.ts';
import { REFUSALS } from '../operations/refusal.ts';
import { version } from '../version.ts';
import { fixedPaths } from './openapi-fixed.ts';
import { eventSchemas, webhookEvents } from './openapi-webhooks.ts';

type Json = Record<string, unknown>;

/** What any operation may be refused with; the codes of each status are in the shared answer. */
const STATUSES = [...new Set(Object.values(REFUSALS))].sort((a, b) => a - b);

/**
 * The description of the REST interface, OpenAPI 3.1: every operation by its name, those that have one by their own
 * route, what needs no operation, and what webhooks are told. `operations` are the ones that anybody may know of.
 */
export function openApi(operations: readonly Operation[], baseUrl: string): Json {
  const paths: Record<string, Json> = {};
  const put = (path: string, method: string, what: Json): void => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: what };
  };
  for (const one of operations) {
    put(`/api/tools/${one.name}`, 'post', byName(one));
    if (one.rest !== undefined) put(pathOf(one.rest.path), one.rest.method, byRoute(one, one.rest));
  }
  for (const { path, method, what } of fixedPaths()) put(path, method, { ...what, responses: answers(what) });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mailstead',
      version: version(),
      description: 'A mail server for small teams and their agents. The same operations are MCP tools at /mcp.',
    },
    servers: [{ url: baseUrl }],
    security: [{ token: [] }],
    tags: [...new Set(operations.map((one) => one.toolset))].map((name) => ({ name })),
    paths,
    webhooks: webhookEvents(),
    components: components(operations),
  };
}

function components(operations: readonly Operation[]): Json {
  const schemas = operations.flatMap((one) => [
    [`${one.name}_input`, inputSchema(one)] as const,
    [`${one.name}_output`, outputSchema(one)] as const,
  ]);
  return {
    schemas: { ...Object.fromEntries(schemas), ...eventSchemas(), refusal: REFUSAL },
    responses: {
      ...Object.fromEntries(STATUSES.map((status) => [`refused_${status}`, refusedWith(status)])),
      pending_approval: PENDING,
    },
    securitySchemes: {
      token: {
        type: 'http',
        scheme: 'bearer',
        description: 'A token of an organization: a prefix, _ and 48 hexadecimal digits. /auth.md says how to get one.',
      },
    },
  };
}

/** The flat error object, the same at every door. */
const REFUSAL: Json = {
  type: 'object',
  properties: {
    error: { type: 'string', enum: Object.keys(REFUSALS) },
    message: { type: 'string', description: 'One sentence that says what to do next.' },
    requestId: { type: 'string' },
    retryAfterSeconds: { type: 'integer', minimum: 1 },
    issues: {
      type: 'array',
      items: { type: 'object', properties: { path: { type: 'string' }, message: { type: 'string' } } },
    },
  },
  required: ['error', 'message'],
};

/** Of what changes a rule, for a token under an agent policy. */
const PENDING: Json = {
  description: 'Not done yet: a person has to accept it, at approveUrl. list_proposals says what became of it.',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          status: { const: 'pending_approval' },
          proposalId: { type: 'string' },
          approveUrl: { type: 'string', format: 'uri' },
          expiresAt: { type: 'string', format: 'date-time' },
          message: { type: 'string' },
        },
        required: ['status', 'proposalId', 'approveUrl', 'expiresAt', 'message'],
      },
    },
  },
};

function refusedWith(status: number): Json {
  const codes = Object.entries(REFUSALS).flatMap(([code, its]) => (its === status ? [code] : []));
  const later = status === 429 || status === 503;
  return {
    description: `Refused: ${codes.join(', ')}`,
    ...(later && { headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds' } } }),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/refusal' } } },
  };
}

function common(one: Operation, operationId: string, status: number): Json {
  const schema = { $ref: `#/components/schemas/${one.name}_output` };
  return {
    operationId,
    summary: one.title,
    description: one.description,
    tags: [one.toolset],
    'x-action': one.action,
    ...(one.action === 'anonymous' && { security: [{}, { token: [] }] }),
    responses: {
      [status]: { description: 'Done', content: { 'application/json': { schema } } },
      ...(one.rule !== undefined && { 202: { $ref: '#/components/responses/pending_approval' } }),
      ...refusals(),
    },
  };
}

function byName(one: Operation): Json {
  const schema = { $ref: `#/components/schemas/${one.name}_input` };
  return {
    ...common(one, one.name, one.rest?.status ?? 200),
    requestBody: { required: required(one).length > 0, content: { 'application/json': { schema } } },
  };
}

/** The same with its arguments where its own route has them: path, then query or body. */
function byRoute(one: Operation, { method, path, status, query = {} }: NonNullable<Operation['rest']>): Json {
  const shortened = new Map(Object.entries(query).map(([short, name]) => [name, short]));
  const named = [...path.matchAll(/\/:(\w+)/g)].map((found) => found[1] ?? '');
  const properties = Object.entries((inputSchema(one)['properties'] ?? {}) as Record<string, Json>);
  const others = properties.filter(([name]) => !named.includes(name));
  const inBody = method === 'POST' || method === 'PUT';
  const parameter =
    (where: 'path' | 'query') =>
    ([name, schema]: [string, Json]) => ({
      name: shortened.get(name) ?? name,
      in: where,
      required: where === 'path' || required(one).includes(name),
      schema,
    });
  const body = { type: 'object', properties: Object.fromEntries(others), additionalProperties: false };
  const needed = required(one).filter((name) => !named.includes(name));
  const parameters = [
    ...properties.filter(([name]) => named.includes(name)).map(parameter('path')),
    ...(inBody ? [] : others.map(parameter('query'))),
  ];
  const schema = { ...body, ...(needed.length > 0 && { required: needed }) };
  return {
    ...common(one, `${one.name}_by_route`, status ?? 200),
    ...(parameters.length > 0 && { parameters }),
    ...(inBody && { requestBody: { required: needed.length > 0, content: { 'application/json': { schema } } } }),
  };
}

function required(one: Operation): string[] {
  return (inputSchema(one)['required'] ?? []) as string[];
}

function pathOf(pattern: string): string {
  return pattern.replace(/\/:(\w+)/g, '/{$1}');
}

function answers(what: Json): Json {
  return { ...(what['responses'] as Json), ...refusals() };
}

function refusals(): Json {
  return Object.fromEntries(
    STATUSES.map((status) => [String(status), { $ref: `#/components/responses/refused_${status}` }]),
  );
}
