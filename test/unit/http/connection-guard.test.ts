import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { countByAccount, guardConnections } from '../../../src/http/connection-guard.ts';
import { testGuard } from '../../support/guard.ts';

const guard = testGuard({ perNetwork: 2, perNetworkTotal: 2, neighborhoodFactor: 1, perAccount: 3 });
const app = Fastify({ forceCloseConnections: true });
guardConnections(app, false, { guard, metrics: quiet, log: quiet, clock: Date.now });
app.get('/:account', (request, reply) => {
  const { account } = request.params as { account: string };
  if (account !== 'nobody') countByAccount(request.raw, account);
  return reply.send('in');
});
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;
const agents: Agent[] = [];

/** Opens a connection, which stays open, and asks as an account; the status, or 0 for a closed connection. */
function ask(account: string, agent = new Agent({ keepAlive: true, maxSockets: 1 })): Promise<number> {
  agents.push(agent);
  const { promise, resolve } = Promise.withResolvers<number>();
  request({ host: '127.0.0.1', port, path: `/${account}`, agent }, (answer) => {
    answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
  })
    .on('error', () => resolve(0))
    .end();
  return promise;
}
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.destroy();
  await expect.poll(() => guard.utilization('http')).toBe(0);
});

test('connections that have logged in count by account, others by address', async () => {
  for (const account of ['a', 'b', 'c', 'd']) expect(await ask(account)).toBe(200);
  expect([await ask('nobody'), await ask('nobody')]).toEqual([200, 200]);
  expect(await ask('e')).toBe(503);
});

test('an account has its own limit, and the rest of its connections count by address', async () => {
  const outcomes: number[] = [];
  for (let i = 0; i < 6; i++) outcomes.push(await ask('a'));
  expect(outcomes).toEqual([200, 200, 200, 200, 200, 503]);
});

test('a connection counts once, for its first login, and is given back at its end', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (const account of ['a', 'b', 'nobody', 'a']) expect(await ask(account, agent)).toBe(200);
  expect([await ask('nobody'), await ask('nobody'), await ask('nobody')]).toEqual([200, 200, 503]);
});
