import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyReply } from 'fastify';
import { expect, test } from 'vitest';
import { MemoryBudget } from '../../../mail/limits/memory-budget.ts';
import { boundBodies } from '../../../src/http/body-memory.ts';
import { holdUntilClosed } from '../../../src/jmap/http-exchange.ts';

/** A reply of which only the connection is used. */
class Connection extends EventEmitter {
  closed = false;

  close(): void {
    this.closed = true;
    this.emit('close');
  }

  get reply(): FastifyReply {
    return { raw: this } as unknown as FastifyReply;
  }
}

/** Counts how often it was released. */
class Permit implements Disposable {
  released = 0;

  [Symbol.dispose](): void {
    this.released += 1;
  }
}

test('a request whose client left holds its permit until it is over', () => {
  const [connection, permit] = [new Connection(), new Permit()];
  const held = holdUntilClosed(connection.reply, [permit]);
  connection.close();
  expect(permit.released).toBe(0);
  held[Symbol.dispose]();
  expect(permit.released).toBe(1);
});

test('a request that is over holds its permit until its response was read', () => {
  const [connection, permit] = [new Connection(), new Permit()];
  holdUntilClosed(connection.reply, [permit])[Symbol.dispose]();
  expect(permit.released).toBe(0);
  connection.close();
  expect(permit.released).toBe(1);
});

test('a request that begins when its client is gone already holds nothing at its end', () => {
  const [connection, permit] = [new Connection(), new Permit()];
  connection.close();
  holdUntilClosed(connection.reply, [permit])[Symbol.dispose]();
  expect(permit.released).toBe(1);
});

test('an answer to a client that is gone is no error, and holds no memory', async () => {
  const memory = new MemoryBudget(10_000_000);
  const app = Fastify();
  boundBodies(app, memory);
  const [begun, gone, sent] = [0, 0, 0].map(() => Promise.withResolvers<void>()) as [
    PromiseWithResolvers<void>,
    PromiseWithResolvers<void>,
    PromiseWithResolvers<void>,
  ];
  const errors: unknown[] = [];
  app.setErrorHandler((error, _request, reply) => {
    errors.push(error);
    return reply.send('');
  });
  app.addHook('onSend', async () => sent.resolve());
  app.get('/', async (_request, reply) => {
    reply.raw.once('close', () => gone.resolve());
    begun.resolve();
    await gone.promise;
    return 'x'.repeat(1_000_000);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await begun.promise;
  socket.destroy();
  await sent.promise;
  expect([errors, memory.held]).toEqual([[], 0]);
  await app.close();
});
