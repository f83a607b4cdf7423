import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import * as fc from '../support/fast-check.ts';
import { http, newOrganization, tool } from '../support/mcp.ts';
import {
  type ApiDocument,
  type DocumentedOperation,
  documentedOperations,
  requestsOf,
} from '../support/openapi-requests.ts';

const REQUESTS = Number(process.env['OPENAPI_REQUESTS'] ?? 20_000);
const LANES = 8;

type Validator = ReturnType<AjvJsonSchemaValidator['getValidator']>;

test(`${REQUESTS} requests by the OpenAPI document`, { timeout: 1_800_000 }, async () => {
  await using box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  const base = `http://127.0.0.1:${box.port('http')}`;
  const document = (await http('GET', `${base}/openapi.json`)).json as unknown as ApiDocument;
  const operations = documentedOperations(document);
  expect(operations.length).toBeGreaterThan(200);
  const validate = validators(document);
  const counts = new Map<number, number>();
  const wrong: string[] = [];

  async function once(one: DocumentedOperation, credential: string, sample: { path: string; body: unknown }) {
    const headers = { 'content-type': 'application/json', ...(credential !== '' && { authorization: credential }) };
    const body = sample.body === undefined ? '' : JSON.stringify(sample.body);
    const said = await http(one.method.toUpperCase(), `${base}${sample.path}`, headers, body);
    counts.set(said.status, (counts.get(said.status) ?? 0) + 1);
    const problem = problemOf(one, said.status, said.json, validate);
    if (problem !== undefined)
      wrong.push(
        `${one.method} ${sample.path.slice(0, 120)} ${body.slice(0, 200)}: ${said.status} ${problem} ${said.text.slice(0, 300)}`,
      );
  }

  const each = Math.ceil(REQUESTS / operations.length / LANES);
  for (const [i, one] of operations.entries()) {
    // Tokens and domains of an organization may be deleted by its own requests: it is renewed now and then.
    const credentials = i % 20 === 0 ? await credentialsAt(base, i) : last;
    last = credentials;
    const samples = fc.sample(requestsOf(one, document), { numRuns: each * LANES, seed: 20_261_122 + i });
    for (let at = 0; at < samples.length; at += LANES) {
      const slice = samples.slice(at, at + LANES);
      await Promise.all(slice.map((sample, n) => once(one, credentials[(at + n) % credentials.length] ?? '', sample)));
    }
  }
  process.stdout.write(`${JSON.stringify(Object.fromEntries([...counts].toSorted(([a], [b]) => a - b)))}\n`);
  expect([...new Set(wrong)].slice(0, 20)).toEqual([]);
  expect([...counts.values()].reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(REQUESTS);
});

let last: string[] = [];

/** Valid, invalid and no credentials: an owner's token, a key, an unknown token, nothing. */
async function credentialsAt(base: string, i: number): Promise<string[]> {
  const { token } = await newOrganization(base, `Fuzz ${i}`);
  await tool(base, 'add_email_domain', { domain: `fuzz${i}.test` }, token);
  await tool(base, 'verify_email_domain', { domain: `fuzz${i}.test` }, token);
  await tool(base, 'provision_email', { domain: `fuzz${i}.test`, localPart: 'a' }, token);
  const key = String((await tool(base, 'create_email_api_key', { name: 'fuzz' }, token)).body['secret']);
  return [`Bearer ${token}`, `Bearer ${key}`, `Bearer mst_${'0'.repeat(48)}`, '', `Bearer ${token}`];
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
