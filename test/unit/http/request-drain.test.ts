import { once } from 'node:events';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { drainRequests } from '../../../src/http/request-drain.ts';

let app: FastifyInstance;
let base: string;
let answer: () => void;
let arrived: Promise<void>;

beforeEach(async () => {
  app = Fastify({ forceCloseConnections: true });
  drainRequests(app);
  const arrival = Promise.withResolvers<void>();
  const wait = Promise.withResolvers<void>();
  arrived = arrival.promise;
  answer = wait.resolve;
  app.get('/waits', async () => {
    arrival.resolve();
    await wait.promise;
    return { waited: true };
  });
  app.get('/stream', (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200).write('first');
  });
  base = await app.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(() => app.close());

test('a request under way is answered before the server closes, and a new one is refused', async () => {
  const waiting = fetch(`${base}/waits`);
  await arrived;
  const closed = app.close();
  const late = await fetch(`${base}/waits`);
  expect(late.status).toBe(503);
  answer();
  expect(await (await waiting).json()).toEqual({ waited: true });
  await closed;
});

test('a stream is cut at once', async () => {
  const { body } = await fetch(`${base}/stream`);
  const reader = body?.getReader();
  await reader?.read();
  await Promise.all([once(app.server, 'close'), app.close(), expect(reader?.read()).rejects.toThrow()]);
});
