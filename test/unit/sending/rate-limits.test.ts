import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { HttpLimits } from '../../../src/http/rate-limits.ts';
import { sendRoutes } from '../../../src/http/routes/sending.ts';
import { sendAll } from '../../../src/http/routes/send-requests.ts';
import { SendWorld } from '../../support/send-world.ts';
import { twoTenants } from '../../support/tenants.ts';
import { testGuard } from '../../support/guard.ts';

const FAR = '198.51.100.7';
/** Requests a minute of one key, over all HTTP endpoints. */
const MOST = 6_000;

test('a batch of 100 is sent completely by a key with a lower burst: messages wait for the rate limit', async () => {
  await using probe = await SendWorld.open();
  const settings = { ...probe.world.settings, live: true, keyPerSecond: 18, organizationDaily: 0 };
  await using box = await SendWorld.open({ settings });
  const { clock } = box.made.store;
  const ticking = setInterval(() => (clock.now += 20), 20);
  try {
    const bodies = Array.from({ length: 100 }, (_, n) => ({ ...box.mail, to: `u${n}@x.example` }));
    const results = await sendAll(box.world, box.sender, bodies, undefined);
    expect(results.filter((one) => 'error' in one)).toEqual([]);
    expect(new Set(results.map((one) => ('id' in one ? one.id : ''))).size).toBe(100);
  } finally {
    clearInterval(ticking);
  }
});

test('a key over the request rate is refused from every address; others are not affected', async () => {
  const limits = new HttpLimits(() => false, testGuard());
  await using tenants = await twoTenants({ limits });
  const made = async (name: string) => {
    const { secret, key } = await tenants.do('create_email_api_key', { name });
    return { secret: String(secret), id: (key as { id: string }).id };
  };
  const [busy, calm] = [await made('busy'), await made('calm')];
  const app = Fastify();
  await app.register(async (inner) => sendRoutes(tenants.world)(inner));
  const ask = async (secret: string, remoteAddress = FAR) =>
    app.inject({ url: '/api/email/messages/x', remoteAddress, headers: { authorization: `Bearer ${secret}` } });
  for (let n = 0; n < MOST; n++) limits.take(FAR, busy.id, tenants.world.clock());
  for (const from of [FAR, '203.0.113.9']) {
    const said = await ask(busy.secret, from);
    expect([said.statusCode, said.json<{ error: string }>().error]).toEqual([429, 'rate_limited']);
    expect(said.json<{ retryAfterSeconds: number }>().retryAfterSeconds).toBe(60);
  }
  expect((await ask(calm.secret)).statusCode).toBe(404);
  tenants.clock.now += 60_000;
  expect((await ask(busy.secret)).statusCode).toBe(404);
  await app.close();
});
