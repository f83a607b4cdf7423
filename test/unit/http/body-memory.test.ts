import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { MemoryBudget } from '../../../mail/limits/memory-budget.ts';
import { boundBodies } from '../../../src/http/body-memory.ts';

test('a body without memory left is refused with 503 before it is read; small ones and streams are not counted', async () => {
  const memory = new MemoryBudget(1_000_000);
  const app = Fastify({ bodyLimit: 5_000_000 });
  boundBodies(app, memory);
  let held = 0;
  app.post('/', async (_request, reply) => {
    held = memory.held;
    return reply.send({ ok: true });
  });
  const post = (length: number) => app.inject({ method: 'POST', url: '/', payload: { text: 'x'.repeat(length) } });
  expect((await post(100_000)).statusCode).toBe(200);
  expect(held).toBeGreaterThan(300_000);
  expect(memory.held).toBe(0);
  const refused = await post(400_000);
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5']);
  expect(refused.json()).toMatchObject({ error: 'unavailable', retryAfterSeconds: 5 });
  using other = memory.open(['someone']);
  expect(other.tryGrow(900_000)).toBe(true);
  expect((await post(100_000)).statusCode).toBe(503);
  expect((await post(10_000)).statusCode).toBe(200);
  expect(memory.held).toBe(900_000);
  await app.close();
});
