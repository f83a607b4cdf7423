import { Agent, request } from 'node:http';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { fuzzCount } from '../support/fuzz-count.ts';
import { newOrganization } from '../support/mcp.ts';

const ORGANIZATIONS = 20;
const CLIENTS = 200;
const CALLS = fuzzCount(100_000);

// One process, one store, one cache for all: an answer must never reach, or be made of, another organization.
test(`${CALLS} calls of ${CLIENTS} clients in ${ORGANIZATIONS} organizations: each sees its own only`, async () => {
  await using box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  const base = `http://127.0.0.1:${box.port('http')}`;
  const tenants = await Promise.all(
    Array.from({ length: ORGANIZATIONS }, async (_, i) => {
      const { token } = await newOrganization(base, `Tenant ${i} tag${i}gat`);
      const call = caller(base, token);
      await call(1, 'add_email_domain', { domain: `tag${i}gat.test` });
      await call(2, 'provision_email', { domain: `tag${i}gat.test`, localPart: `tag${i}gat` });
      return { tag: `tag${i}gat`, token };
    }),
  );
  let done = 0;
  let foreign = 0;
  let odd = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const { tag, token } = tenants[client % ORGANIZATIONS] ?? tenants[0] ?? { tag: '', token: '' };
      const call = caller(base, token);
      while (done < CALLS) {
        const id = done++;
        const [name, args] = TURNS[id % TURNS.length] ?? TURNS[0];
        // The same ids for everybody: a mix-up of answers would show.
        const text = await call((id % 7) + 1, name, args);
        if (!text.includes(tag) || !text.includes(`"id":${(id % 7) + 1}`)) odd++;
        if ([...text.matchAll(/tag\d+gat/g)].some(([one]) => one !== tag)) foreign++;
      }
    }),
  );
  expect({ foreign, odd }).toEqual({ foreign: 0, odd: 0 });
}, 600_000);

const TURNS: [[string, object], ...[string, object][]] = [
  ['whoami', {}],
  ['list_email_domains', {}],
  ['list_emails', {}],
  ['get_organization', {}],
];

const pool = new Agent({ keepAlive: true, maxSockets: 64 });

function caller(base: string, token: string): (id: number, name: string, args: object) => Promise<string> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return (id, name, args) =>
    new Promise((resolve, reject) => {
      const queried = request(`${base}/mcp`, { method: 'POST', headers, agent: pool }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve(text));
      });
      queried.on('error', reject);
      queried.end(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }));
    });
}
