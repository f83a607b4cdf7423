import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run, type Ran } from '../peers/run.ts';
import { type Box, startBox } from '../support/box.ts';
import { newOrganization } from '../support/mcp.ts';

const INSPECTOR = join(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);

let box: Box;
let base: string;
let token: string;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  ({ token } = await newOrganization(base, 'Inspected'));
});
afterAll(() => box[Symbol.asyncDispose]());

/** The protocol's inspector without its window. */
function inspect(...args: string[]): Promise<Ran> {
  const where = [`${base}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${token}`];
  // Its settings go to a home of its own.
  const env = { ...process.env, HOME: box.dataDir };
  return run(process.execPath, [INSPECTOR, '--cli', ...where, ...args], { env });
}

// --strict exits with 6 on a schema that other hosts cannot use.
test('tools/list --strict finds nothing to complain of', async () => {
  const { status, out, err } = await inspect('--method', 'tools/list', '--strict');
  expect(status, err).toBe(0);
  const { tools } = JSON.parse(out) as { tools: { name: string }[] };
  expect(tools.length).toBeGreaterThan(20);
  expect(tools.map((one) => one.name)).toContain('whoami');
});

test('tools/call of whoami answers the organization', async () => {
  const { status, out, err } = await inspect('--method', 'tools/call', '--tool-name', 'whoami');
  expect(status, err).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ structuredContent: { organization: { name: 'Inspected' } } });
});

test('resources and prompts are listed, read and filled in', async () => {
  const listed = await inspect('--method', 'resources/list');
  expect(listed.status, listed.err).toBe(0);
  expect(listed.out).toContain('mail://mailboxes');
  const read = await inspect('--method', 'resources/read', '--uri', 'docs://safety');
  expect(read.status, read.err).toBe(0);
  expect(read.out).toContain('text/markdown');
  const prompt = [
    '--method',
    'prompts/get',
    '--prompt-name',
    'set_up_domain',
    '--prompt-args',
    'domain=inspected.test',
  ];
  const filled = await inspect(...prompt);
  expect(filled.status, filled.err).toBe(0);
  expect(filled.out).toContain('inspected.test');
});
