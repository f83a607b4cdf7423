import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { fuzzCount } from '../support/fuzz-count.ts';
import * as fc from '../support/fast-check.ts';
import { http } from '../support/mcp.ts';
import {
  type ApiDocument,
  type DocumentedOperation,
  documentedOperations,
  type ApiRequest,
  requestsOf,
  requestWith,
  sampledRequestsOf,
} from '../support/openapi-requests.ts';
import { argumentsOf, takesKey } from '../support/openapi-samples.ts';
import { type BoxTenant, makeBoxTenant } from '../support/openapi-things.ts';

const REQUESTS = fuzzCount(20_000, process.env['OPENAPI_REQUESTS']);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_122);
const LANES = 8;

type Validator = ReturnType<AjvJsonSchemaValidator['getValidator']>;

test(`${REQUESTS} requests by the OpenAPI document`, { timeout: 1_800_000 }, async () => {
  const settings = { EXEMPT_NETWORKS: '127.0.0.0/8', ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' };
  await using box = await startBox({ settings });
  const base = `http://127.0.0.1:${box.port('http')}`;
  const document = (await http('GET', `${base}/openapi.json`)).json as unknown as ApiDocument;
  const operations = documentedOperations(document);
  expect(operations.length).toBeGreaterThan(200);
  const validate = validators(document);
  const counts = new Map<string, Map<number, number>>();
  const wrong: string[] = [];

  async function once(one: DocumentedOperation, { kind, credential }: Credential, { path, body: given }: ApiRequest) {
    const headers = { 'content-type': 'application/json', ...(credential !== '' && { authorization: credential }) };
    const body = given === undefined ? '' : JSON.stringify(given);
    const said = await http(one.method.toUpperCase(), `${base}${path}`, headers, body);
    const among = counts.get(kind) ?? new Map<number, number>();
    counts.set(kind, among.set(said.status, (among.get(said.status) ?? 0) + 1));
    const problem = problemOf(one, said.status, said.json, validate);
    if (problem !== undefined)
      wrong.push(
        `${one.method} ${path.slice(0, 120)} ${body.slice(0, 200)}: ${said.status} ${problem} ${said.text.slice(0, 300)}`,
      );
    return said;
  }

  const each = Math.ceil(REQUESTS / operations.length / LANES);
  const never: string[] = [];
  for (const [i, one] of operations.entries()) {
    // Requests delete what others need: each operation has an organization of its own.
    const tenant = await makeBoxTenant(base, box.port('imap'), `fuzz${i}`);
    const arbitrary = fc.oneof(
      { weight: 4, arbitrary: sampledRequestsOf(one, document, () => argumentsOf(one.id, tenant)) },
      { weight: 1, arbitrary: requestsOf(one, document) },
    );
    const samples = fc.sample(arbitrary, { numRuns: each * LANES, seed: SEED + i });
    const credentials = credentialsOf(one, tenant);
    const good = requestWith(one, argumentsOf(one.id, tenant) ?? {}, new Map());
    const first = await once(one, credentials[0], good);
    if (first.status >= 300) never.push(`${one.id}: ${first.status} ${first.text.slice(0, 200)}`);
    for (let at = 0; at < samples.length; at += LANES) {
      const slice = samples.slice(at, at + LANES);
      await Promise.all(slice.map((sample, n) => once(one, credentials[(at + n) % credentials.length]!, sample)));
    }
  }
  process.stdout.write(`${JSON.stringify({ counts: [...counts].map(([kind, of]) => [kind, sorted(of)]) })}\n`);
  if (process.env['OPENAPI_VERBOSE'] === '1') process.stdout.write(`${never.join('\n')}\n`);
  expect([...new Set(wrong)].slice(0, 20)).toEqual([]);
  const all = [...counts.values()].flatMap((of) => [...of]);
  expect(all.reduce((sum, [, n]) => sum + n, 0)).toBeGreaterThanOrEqual(REQUESTS);
  // Otherwise the run shows how requests are refused, and little else.
  const valid = [...(counts.get('valid') ?? [])];
  const successes = valid.filter(([status]) => status < 300).reduce((sum, [, n]) => sum + n, 0);
  expect(successes / valid.reduce((sum, [, n]) => sum + n, 0)).toBeGreaterThan(0.3);
});

const sorted = (counts: ReadonlyMap<number, number>): object =>
  Object.fromEntries([...counts].toSorted(([a], [b]) => a - b));

interface Credential {
  kind: 'valid' | 'other' | 'invalid' | 'none';
  credential: string;
}

/** Credentials by turns: the right one three times, one of another kind, an unknown one and none. */
function credentialsOf({ id }: DocumentedOperation, { token, key }: BoxTenant): [Credential, ...Credential[]] {
  const [right, other] = takesKey(id) ? [key, token] : [token, key];
  const valid: Credential = { kind: 'valid', credential: `Bearer ${right}` };
  return [
    valid,
    valid,
    { kind: 'other', credential: `Bearer ${other}` },
    valid,
    { kind: 'invalid', credential: `Bearer mst_${'0'.repeat(48)}` },
    { kind: 'none', credential: '' },
  ];
}

function validators(document: ApiDocument): (schema: object) => Validator {
  const known = new Map<object, Validator>();
  const ajv = new AjvJsonSchemaValidator();
  return (schema) => {
    const found = known.get(schema) ?? ajv.getValidator({ ...schema, components: document.components } as never);
    known.set(schema, found);
    return found;
  };
}

/** Returns the defect of an answer; undefined: none. 503 is the only status of the server's own fault that is documented. */
function problemOf(
  { responses }: DocumentedOperation,
  status: number,
  json: unknown,
  validate: (schema: object) => Validator,
): string | undefined {
  const documented = responses[String(status)] as { content?: Record<string, { schema?: object }> } | undefined;
  if (status >= 500) return 'is a server error';
  if (documented === undefined) return 'is not documented';
  const schema = documented.content?.['application/json']?.schema;
  if (schema === undefined) return undefined;
  const checked = validate(schema)(json);
  return checked.valid ? undefined : `does not fit: ${checked.errorMessage.slice(0, 300)}`;
}
