import { gunzipSync } from 'node:zlib';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { httpEndpoints } from '../../../src/start/protocol-servers.ts';
import { HttpLimits } from '../../../src/http/rate-limits.ts';
import { BOX_OPERATIONS } from '../../../src/operations/operator/index.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';
import { REFUSALS } from '../../../src/core/refusal.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';
import { testGuard } from '../../support/guard.ts';

type Json = Record<string, unknown>;
interface Operation {
  operationId: string;
  description: string;
  tags: string[];
  parameters?: { name: string; in: string; required: boolean; schema: Json }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Json }> };
  responses: Record<string, { description?: string; $ref?: string }>;
  security?: Json[];
}
interface Document {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json>; responses: Record<string, Json>; securitySchemes: Record<string, Json> };
}

const BASE = 'http://127.0.0.1:8080';
const WELL_KNOWN = [
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-authorization-server',
];
const PAGES = ['/openapi.json', '/llms.txt', '/auth.md', '/mcp.json', ...WELL_KNOWN];

let box: TestWorld;
let app: FastifyInstance;
let document: Document;

beforeAll(async () => {
  // So many routes are a flood.
  box = await testWorld({ limits: new HttpLimits(() => true, testGuard()) });
  app = Fastify();
  for (const door of httpEndpoints(box.world)) await app.register(async (inner) => door(inner as FastifyInstance));
  document = (await app.inject('/openapi.json')).json();
});
afterAll(async () => {
  await app.close();
  await box[Symbol.asyncDispose]();
});

const strangersMayKnow = CATALOGUE.filter((one) => one.operatorOnly !== true);
const operations = (): { path: string; method: string; one: Operation }[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ path, method, one })),
  );

describe('every document', () => {
  test.each([
    ['/openapi.json', 'application/json; charset=utf-8'],
    ['/llms.txt', 'text/plain; charset=utf-8'],
    ['/auth.md', 'text/markdown; charset=utf-8'],
    ['/mcp.json', 'application/json; charset=utf-8'],
    ...WELL_KNOWN.map((path) => [path, 'application/json; charset=utf-8']),
  ])('%s is %s, may be kept for minutes, and is not sent twice', async (path, type) => {
    const said = await app.inject(path);
    expect([said.statusCode, said.headers['content-type']]).toEqual([200, type]);
    expect(said.headers['cache-control']).toBe('public, max-age=300');
    const again = await app.inject({ url: path, headers: { 'if-none-match': String(said.headers['etag']) } });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    expect((await app.inject({ url: path, headers: { 'if-none-match': '"another"' } })).statusCode).toBe(200);
  });

  test.each(PAGES)('%s shows nothing of the box and no secret', async (path) => {
    const { body } = await app.inject(path);
    const hidden = [...CATALOGUE.filter((one) => one.operatorOnly === true), ...BOX_OPERATIONS].map((one) => one.name);
    expect(hidden.length).toBeGreaterThan(10);
    expect(hidden.filter((name) => new RegExp(`\\b${name}\\b`).test(body))).toEqual([]);
    expect(body).not.toMatch(/mst_(?:ek_)?[0-9a-f]{48}/);
    expect(body).not.toContain(box.store.dataDir);
  });
});

test.each(['/openapi.json', '/llms.txt'])('%s is packed once, for who takes gzip', async (url) => {
  const plain = await app.inject(url);
  const packed = await app.inject({ url, headers: { 'accept-encoding': 'br, gzip' } });
  expect([packed.headers['content-encoding'], packed.headers['vary']]).toEqual(['gzip', 'accept-encoding']);
  expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body);
  expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 3);
  for (const none of ['gzip;q=0', 'identity', 'xgzip'])
    expect(
      (await app.inject({ url, headers: { 'accept-encoding': none } })).headers['content-encoding'],
    ).toBeUndefined();
});

test('an address gets a hundred documents a minute, others are not held up', async () => {
  const url = '/openapi.json';
  const limited = Fastify();
  const limits = new HttpLimits(() => false, testGuard());
  for (const one of httpEndpoints({ ...box.world, limits }))
    await limited.register(async (inner) => one(inner as FastifyInstance));
  const from = async (remoteAddress: string) => (await limited.inject({ url, remoteAddress })).statusCode;
  const all = await Promise.all(Array.from({ length: 110 }, () => from('192.0.2.77')));
  expect(all.filter((status) => status === 200).length).toBeLessThanOrEqual(101);
  const late = await limited.inject({ url, remoteAddress: '192.0.2.77' });
  expect([late.statusCode, late.headers['retry-after']]).toEqual([429, expect.stringMatching(/^\d+$/)]);
  expect(await from('198.51.100.7')).toBe(200);
  await limited.close();
});

describe('/openapi.json', () => {
  test('says what it is and where', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Mailstead' }, servers: [{ url: BASE }] });
    expect(document.info.version).toMatch(/^\d+\.\d+\.\d+/);
  });

  test('has every operation by its name and by its own route', () => {
    for (const one of strangersMayKnow) {
      expect(document.paths[`/api/tools/${one.name}`]?.['post']?.operationId).toBe(one.name);
      expect(document.components.schemas[`${one.name}_input`]).toMatchObject({ type: 'object' });
      if (one.rest === undefined) continue;
      const path = one.rest.path.replace(/\/:(\w+)/g, '/{$1}');
      expect(document.paths[path]?.[one.rest.method.toLowerCase()]?.operationId).toBe(`${one.name}_by_route`);
    }
    for (const path of ['/api/auth/bootstrap-account', '/api/auth/claim', '/api/services/{serviceId}/env']) {
      expect(Object.keys(document.paths)).toContain(path);
    }
  });

  test('every operation that may only be proposed has that answer', () => {
    const proposed = strangersMayKnow.filter((one) => one.rule !== undefined || one.irreversible !== undefined);
    expect(proposed.map(({ name }) => name)).toContain('delete_email');
    for (const { name } of proposed) {
      const { responses } = document.paths[`/api/tools/${name}`]?.['post'] ?? expect.fail(name);
      expect(responses['202']?.$ref, name).toContain('pending_approval');
    }
  });

  test('every reference leads somewhere, and every id is one of its own', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((found) => found[1] ?? '');
    expect(references.length).toBeGreaterThan(100);
    const lost = [...new Set(references)].filter((reference) => {
      const [root, ...parts] = reference.split('/');
      let at: unknown = root === '#' ? document : undefined;
      for (const part of parts) at = (at as Json | undefined)?.[part];
      return at === undefined;
    });
    expect(lost).toEqual([]);
    const ids = operations().map(({ one }) => one.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('every operation is whole: parameters of its path, a body, answers with words', () => {
    const tags = new Set(document.tags.map((tag) => tag.name));
    for (const { path, method, one } of operations()) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]);
      const given = (one.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect(given.map((parameter) => parameter.name)).toEqual(wanted);
      expect(given.every((parameter) => parameter.required)).toBe(true);
      expect(one.requestBody !== undefined).toBe(method === 'post' || method === 'put');
      // Beside the one that says that a person has to accept it.
      const done = Object.entries(one.responses).filter(([, { $ref }]) => $ref?.endsWith('/pending_approval') !== true);
      expect(done.filter(([status]) => /^2\d\d$/.test(status))).toHaveLength(1);
      for (const answer of Object.values(one.responses)) expect(answer.description ?? answer.$ref).toBeTruthy();
      expect(one.tags.every((tag) => tags.has(tag))).toBe(true);
      for (const wish of one.security ?? []) {
        expect(Object.keys(wish).every((name) => name in document.components.securitySchemes)).toBe(true);
      }
    }
  });

  test('every schema is one, of JSON Schema 2020-12', () => {
    const ajv = new AjvJsonSchemaValidator();
    for (const schema of Object.values(document.components.schemas)) ajv.getValidator(schema);
    const bodies = operations().flatMap(({ one }) => Object.values(one.requestBody?.content ?? {}));
    const own = bodies.filter(({ schema }) => !('$ref' in schema));
    expect(own.length).toBeGreaterThan(5);
    for (const { schema } of own) ajv.getValidator(schema);
    const refusal = ajv.getValidator(document.components.schemas['refusal'] ?? {});
    expect(refusal({ error: 'not_found', message: 'x' }).valid).toBe(true);
    expect(refusal({ error: 'nothing_like_it', message: 'x' }).valid).toBe(false);
  });

  test('every code of a refusal stands at its status', () => {
    for (const [code, status] of Object.entries(REFUSALS)) {
      expect(document.components.responses[`refused_${status}`]?.['description']).toContain(code);
    }
  });

  // The page of claim links brings its route.
  test('every route is there', async () => {
    for (const { path, method } of operations().filter((one) => one.path !== '/api/auth/claim')) {
      const said = await app.inject({
        method: method.toUpperCase() as 'GET',
        url: path.replaceAll(/\{\w+\}/g, 'x_1'),
        headers: { authorization: 'Bearer nonsense', 'content-type': 'application/json' },
        ...(method === 'post' && { payload: '{}' }),
      });
      expect([path, said.body]).toEqual([
        path,
        expect.stringMatching(/^\{"error":"(?:unauthorized|invalid_|not_found)/),
      ]);
    }
  });
});

test.each(CATALOGUE.flatMap(({ rest }) => (rest === undefined ? [] : [[rest.method, rest.path] as const])))(
  'an operation is served at %s %s, also those of the operator',
  async (method, path) => {
    const said = await app.inject({
      method,
      url: path.replaceAll(/:\w+/g, 'x_1'),
      headers: { authorization: 'Bearer nonsense', 'content-type': 'application/json' },
      ...(method !== 'GET' && { payload: '{}' }),
    });
    expect(said.statusCode).toBe(401);
  },
);

test('the texts name every tool, and how to begin', async () => {
  const llms = (await app.inject('/llms.txt')).body;
  expect(llms).toMatch(/^# Mailstead\n\n> /);
  for (const { name } of strangersMayKnow) expect(llms).toContain(`\n- ${name} (`);
  expect(llms).toContain(`(${BASE}/openapi.json)`);
  const auth = (await app.inject('/auth.md')).body;
  expect(auth).toContain('create_own_organization');
  expect(auth).toContain('Bearer mst_');
});

test('the authorization server is the box itself, and says what it takes', async () => {
  expect((await app.inject('/.well-known/oauth-protected-resource')).json()).toMatchObject({ resource: BASE });
  expect((await app.inject('/.well-known/oauth-authorization-server')).json()).toMatchObject({
    issuer: BASE,
    authorization_endpoint: `${BASE}/oauth/authorize`,
    token_endpoint: `${BASE}/oauth/token`,
    registration_endpoint: `${BASE}/oauth/register`,
    revocation_endpoint: `${BASE}/oauth/revoke`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    agent_auth: { skill: `${BASE}/auth.md`, identity_types_supported: ['anonymous'] },
  });
});

test.each(WELL_KNOWN)('%s may be read by programs that are pages', async (url) => {
  const queried = await app.inject({ method: 'OPTIONS', url });
  expect([queried.statusCode, queried.headers['access-control-allow-headers']]).toEqual([204, 'mcp-protocol-version']);
  for (const said of [queried, await app.inject(url)]) expect(said.headers['access-control-allow-origin']).toBe('*');
});

test('a box that takes no strangers says so', async () => {
  const closed = await testWorld();
  const { world } = closed;
  const door = Fastify();
  const shut = { ...world, settings: { ...world.settings, bootstrap: 'off' as const } };
  for (const one of httpEndpoints(shut)) await door.register(async (inner) => one(inner as FastifyInstance));
  for (const path of ['/llms.txt', '/auth.md']) {
    expect((await door.inject(path)).body).toContain('does not accept new organizations from anonymous callers');
  }
  const server = (await door.inject('/.well-known/oauth-authorization-server')).json<{ agent_auth: Json }>();
  expect(server.agent_auth).not.toHaveProperty('register_uri');
  await door.close();
  await closed[Symbol.asyncDispose]();
});

test('a client finds the resource that 401 points to, and a configuration without a token', async () => {
  expect((await app.inject('/.well-known/oauth-protected-resource/mcp')).json()).toEqual({
    resource: `${BASE}/mcp`,
    authorization_servers: [BASE],
    resource_name: 'Mailstead',
    resource_documentation: `${BASE}/auth.md`,
    bearer_methods_supported: ['header'],
    scopes_supported: ['read', 'manage', 'deploy', 'logs', 'restart', 'rollback'],
  });
  expect((await app.inject('/mcp.json')).json()).toEqual({
    mcpServers: {
      mailstead: { type: 'http', url: `${BASE}/mcp`, headers: { Authorization: 'Bearer ${MAILSTEAD_TOKEN}' } },
    },
  });
});
