import * as fc from './fast-check.ts';

type Json = Record<string, unknown>;

/** One documented operation: where it is, what it takes and what it answers. */
export interface DocumentedOperation {
  id: string;
  path: string;
  method: string;
  parameters: { name: string; in: string; required?: boolean; schema: Json }[];
  body: Json | undefined;
  responses: Record<string, Json>;
}

export interface ApiDocument {
  paths: Record<string, Record<string, Json>>;
  components: { schemas: Record<string, Json>; responses: Record<string, Json> };
}

export interface ApiRequest {
  path: string;
  body: unknown;
}

/** Streams and file bodies, which have no JSON schema. */
const LEFT_OUT = /^\/api\/(?:events$|email\/upload)/;

export function documentedOperations({ paths, components }: ApiDocument): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(() => !LEFT_OUT.test(path))
      .map(([method, one]) => {
        const content = (one['requestBody'] as { content?: Record<string, { schema: Json }> } | undefined)?.content;
        const responses = Object.entries(one['responses'] as Record<string, Json>).map(([status, its]) => [
          status,
          resolved(its, components.responses),
        ]);
        return {
          id: String(one['operationId']),
          path,
          method,
          parameters: (one['parameters'] ?? []) as DocumentedOperation['parameters'],
          body: content?.['application/json']?.schema,
          responses: Object.fromEntries(responses) as Record<string, Json>,
        };
      }),
  );
}

function resolved(schema: Json, among: Record<string, Json>): Json {
  const name = /\/(\w+)$/.exec(typeof schema['$ref'] === 'string' ? schema['$ref'] : '')?.[1];
  return name === undefined ? schema : (among[name] ?? {});
}

/**
 * Requests of an operation with good arguments, by their names in the document: most as they are, the others with one that
 * is left out, added or replaced.
 */
export function sampledRequestsOf(
  one: DocumentedOperation,
  { components }: ApiDocument,
  args: () => unknown,
): fc.Arbitrary<ApiRequest> {
  const body = one.body === undefined ? {} : propertiesOf(one.body, components.schemas);
  const schemas = { ...Object.fromEntries(one.parameters.map(({ name, schema }) => [name, schema])), ...body };
  const names = Object.keys(schemas);
  const mutation = fc.constantFrom(...(names.length === 0 ? ['x'] : names)).chain((name) =>
    fc.record({
      name: fc.constant(name),
      value: fc.oneof(
        fitting(schemas[name] ?? {}, components.schemas),
        fc.constant(undefined),
        fc.constantFrom<unknown>('', null, [], {}, 0, -1, 2 ** 53, 'x'.repeat(5_000), '\u0000', '../..', '\ud83d'),
        fc.jsonValue(),
      ),
    }),
  );
  const mutations = fc.oneof({ weight: 7, arbitrary: fc.constant([]) }, { weight: 3, arbitrary: fc.tuple(mutation) });
  return mutations.map((all) => requestWith(one, args(), new Map(all.map(({ name, value }) => [name, value]))));
}

/** The request with arguments by their names in the document, some of them replaced; undefined: left out. */
export function requestWith(
  one: DocumentedOperation,
  args: unknown,
  mutations: ReadonlyMap<string, unknown>,
): ApiRequest {
  if (!isObject(args)) return { path: one.path, body: mutations.size === 0 ? args : [...mutations.values()] };
  const rest: Json = { ...args };
  for (const [name, value] of mutations) {
    if (value === undefined) delete rest[name];
    else rest[name] = value;
  }
  const query = new URLSearchParams();
  let { path } = one;
  for (const { name, in: where } of one.parameters) {
    if (!Object.hasOwn(rest, name) && where !== 'path') continue;
    const value = rest[name] ?? 'x';
    delete rest[name];
    const text = (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
    if (where === 'path') path = path.replace(`{${name}}`, () => encodeURIComponent(text) || 'x');
    if (where === 'query') query.set(name, name === 'timeout' ? '0' : text);
  }
  const body = one.body === undefined ? undefined : { ...rest, ...noWait(rest) };
  return { path: `${path}?${query.toString()}`, body };
}

function propertiesOf(schema: Json, schemas: Record<string, Json>): Record<string, Json> {
  return (resolved(schema, schemas)['properties'] ?? {}) as Record<string, Json>;
}

/** Requests of an operation: mostly such as fit its schema, some that do not. Waits are cut short. */
export function requestsOf(one: DocumentedOperation, { components }: ApiDocument): fc.Arbitrary<ApiRequest> {
  const value = (schema: Json): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 9, arbitrary: fitting(schema, components.schemas) }, { weight: 1, arbitrary: fc.jsonValue() });
  const given = fc.record(
    Object.fromEntries(one.parameters.map((each) => [`${each.in} ${each.name}`, value(each.schema)])),
  );
  const body = one.body === undefined ? fc.constant(undefined) : value(one.body);
  return fc.tuple(given, body).map(([named, sent]) => {
    const query = new URLSearchParams();
    let { path } = one;
    for (const [key, each] of Object.entries(named)) {
      const [where = '', name = ''] = key.split(' ');
      const text = typeof each === 'string' ? each : JSON.stringify(each);
      if (where === 'path') path = path.replace(`{${name}}`, encodeURIComponent(text.toWellFormed()) || 'x');
      if (where === 'query') query.set(name, name === 'timeout' ? '0' : text.toWellFormed());
    }
    return { path: `${path}?${query.toString()}`, body: isObject(sent) ? { ...sent, ...noWait(sent) } : sent };
  });
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const WAITS = ['timeoutSeconds', 'waitSeconds'];
const noWait = (body: Json): Json => Object.fromEntries(WAITS.filter((name) => name in body).map((name) => [name, 0]));

function fitting(schema: Json, schemas: Record<string, Json>): fc.Arbitrary<unknown> {
  if ('$ref' in schema) return fitting(resolved(schema, schemas), schemas);
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  const some = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(some)) return fc.oneof(...(some as Json[]).map((each) => fitting(each, schemas)));
  switch (schema['type']) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return fc.integer({ min: Number(schema['minimum'] ?? 0), max: Math.min(Number(schema['maximum'] ?? 100), 1e9) });
    case 'array':
      return fc.array(fitting((schema['items'] ?? {}) as Json, schemas), { maxLength: 3 });
    case 'object': {
      const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
      const model = Object.fromEntries(properties.map(([name, each]) => [name, fitting(each, schemas)]));
      return fc.record(model, { requiredKeys: (schema['required'] ?? []) as string[] });
    }
    default:
      return text(schema);
  }
}

/** Ids get small numbers, so that some exist. */
function text({ pattern, format }: Json): fc.Arbitrary<string> {
  const id = /^\^([a-z]{3})_\[1-9\]/.exec(typeof pattern === 'string' ? pattern : '')?.[1];
  if (id !== undefined) return fc.integer({ min: 1, max: 40 }).map((row) => `${id}_${row}`);
  if (format === 'date-time') return fc.constantFrom('2030-01-01T00:00:00Z', '2020-01-01T00:00:00+02:00');
  const ordinary = fc.constantFrom('a@fuzz.test', 'fuzz.test', 'm1', 't1', 'x', 'https://hook.example/');
  return fc.oneof(ordinary, fc.string({ maxLength: 40, unit: 'grapheme' }));
}
