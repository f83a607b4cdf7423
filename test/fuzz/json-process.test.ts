import { Agent, request as ask } from 'node:http';
import { expect, test } from 'vitest';
import { inputSchema } from '../../src/operations/description.ts';
import { CATALOGUE } from '../../src/operations/catalogue.ts';
import { type Box, startBox } from '../support/box.ts';
import { dnsServer } from '../support/dns-server.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { fuzzCount } from '../support/fuzz-count.ts';
import { fuzzRun } from '../support/fuzz-run.ts';
import { seeded } from '../support/imap-fuzz.ts';
import type { Schema } from '../support/json-fuzz.ts';
import { type FuzzGround, type FuzzRequest, fuzzRequest } from '../support/json-requests.ts';
import { newOrganization, rpc } from '../support/mcp.ts';

const REQUESTS = fuzzCount(100_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_124);
const LANES = 16;
const MOST_MORE = 100 * 2 ** 20;
/** Organizations that take turns; the first ones, whose tokens have ids that are guessed, are left out. */
const ORGANIZATIONS = 20;
const GUESSED = 10;
const TURN = 500;

const agent = new Agent({ keepAlive: true, maxSockets: LANES });

test(`${REQUESTS} requests of nonsense over MCP and REST, seed ${SEED}`, { timeout: 900_000 }, async () => {
  await using dns = await dnsServer({ 'A hook.example': ['192.0.2.7'] });
  await using box = await startBox({ settings: { ...UNDER_LOAD, RESOLVERS: dns.address } });
  const base = `http://127.0.0.1:${box.port('http')}`;
  const random = seeded(SEED);
  const statuses = new Map<number, number>();
  const made = Array.from({ length: GUESSED + ORGANIZATIONS }, () => groundOf(base));
  const grounds = (await Promise.all(made)).slice(GUESSED);
  let sent = 0;
  const told = await fuzzRun(box, {
    lines: REQUESTS,
    lanes: LANES,
    mostMore: MOST_MORE,
    // The library's requests live until a full collection, and the first few of these let the heap grow.
    warmUp: 0.2,
    canaries: [async () => expect((await rpc(base, 'ping')).json?.['result']).toEqual({})],
    async next() {
      const ground = grounds[Math.floor(sent++ / TURN) % ORGANIZATIONS] as FuzzGround;
      const made = fuzzRequest(random, ground);
      const { status, text } = await send(box, made);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      classifier(made, status, text);
      return 1;
    },
  });
  expect(statuses.get(200) ?? 0, 'requests that were understood').toBeGreaterThan(REQUESTS / 10);
  const counted = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  console.log(`${told}; answers ${counted.join(', ')}; seed ${SEED}`);
  agent.destroy();
});

async function groundOf(base: string): Promise<FuzzGround> {
  const { token } = await newOrganization(base, 'Fuzz');
  const said = await rpc(base, 'tools/list', {}, { authorization: `Bearer ${token}` });
  const tools = CATALOGUE.map((one) => ({ name: one.name, inputSchema: inputSchema(one) as Schema }));
  return { tools, token, session: String(said.headers['mcp-session-id']) };
}

/** No answer may be our own fault, whichever way it is said. */
function classifier(made: FuzzRequest, status: number, text: string): void {
  const queried = () =>
    `${made.method} ${made.path} ${JSON.stringify(made.headers)}\n${made.body.toString('latin1').slice(0, 4_000)}`;
  if (status >= 500 || text.includes('"internal"') || text.includes('-32603')) {
    expect.fail(`${status} ${text.slice(0, 1_000)}\nto ${queried()}`);
  }
  if (text === '' || text.startsWith('event:') || text.startsWith(':')) return;
  try {
    JSON.parse(text);
  } catch {
    expect.fail(`${status} and no JSON: ${text.slice(0, 1_000)}\nto ${queried()}`);
  }
}

function send(box: Box, { method, path, headers, body }: FuzzRequest): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const at = { host: '127.0.0.1', port: box.port('http'), agent, method, path };
    const queried = ask({ ...at, headers: { ...headers, 'content-length': body.length } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    queried.setTimeout(30_000, () =>
      queried.destroy(new Error(`no answer to ${method} ${path} ${body.toString('latin1')}`)),
    );
    queried.on('error', reject);
    queried.end(body);
  });
}
