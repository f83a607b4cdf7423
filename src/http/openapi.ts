import { inputSchema, outputSchema } from '../operations/description.ts';
import type { Operation } from '../core/operation.ts';
import { REFUSALS } from '../core/refusal.ts';
import { version } from '../core/version.ts';
import { fixedPaths } from './openapi-fixed.ts';
import { eventSchemas, webhookEvents } from './openapi-webhooks.ts';

type Json = Record<string, unknown>;

/** HTTP statuses of refusals; each has a shared response with its codes. */
const STATUSES = [...new Set(Object.values(REFUSALS))].sort((a, b) => a - b);

/**
 * OpenAPI 3.1 document of the REST interface: operations by name and by their own route, other routes, and webhooks.
 * `operations` are the public ones.
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
  for (const { path, method, operation: what } of fixedPaths())
    put(path, method, { ...what, responses: answers(what) });
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
      emailKey: {
        type: 'http',
        scheme: 'bearer',
        description: 'An email API key: a prefix, _ek_ and 48 hexadecimal digits. create_email_api_key makes one.',
      },
    },
  };
}

/** The flat error object, the same in every protocol. */
const REFUSAL: Json = {
  type: 'object',
  properties: {
    error: { type: 'string', enum: Object.keys(REFUSALS) },
    message: { type: 'string', description: 'One sentence with the next step.' },
    requestId: { type: 'string' },
    retryAfterSeconds: { type: 'integer', minimum: 1 },
    issues: {
      type: 'array',
      items: { type: 'object', properties: { path: { type: 'string' }, message: { type: 'string' } } },
    },
  },
  required: ['error', 'message'],
};

/** Response to a rule change by a governed token. */
const PENDING: Json = {
  description: 'Awaits approval by a person at approveUrl. list_proposals has the outcome.',
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

/** Tests if some calls of an operation are only proposed. */
function isProposable(one: Operation): boolean {
  return one.rule !== undefined || one.irreversible !== undefined;
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
      ...(isProposable(one) && { 202: { $ref: '#/components/responses/pending_approval' } }),
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

/** The operation at its own route, with arguments in path, query or body. */
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
