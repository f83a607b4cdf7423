import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EventWriter } from '../../../src/http/event-writer.ts';

let app: FastifyInstance;
let socket: Socket;
let writer: EventWriter;
beforeEach(async () => {
  const ready = Promise.withResolvers<EventWriter>();
  app = Fastify();
  app.get('/', (_request, reply) => ready.resolve(new EventWriter(reply, { 'x-own': 'yes' })));
  await app.listen({ host: '127.0.0.1', port: 0 });
  socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nhost: box.test\r\n\r\n');
  writer = await ready.promise;
});
afterEach(async () => {
  socket.destroy();
  await app.close();
});

const BLOCK = { event: 'block', data: { text: 'x'.repeat(64 * 1024) } };

/** More than a connection takes whose client reads nothing: what is over waits in this process. */
function fill(): void {
  socket.pause();
  for (let i = 0; i < 400 && writer.isOpen; i++) writer.event(BLOCK);
}

describe('an answer of server-sent events', () => {
  test('is kept, gathered and compressed by nobody on its way', async () => {
    const [data] = (await once(socket, 'data')) as [Buffer];
    const head = data.toString().toLowerCase();
    for (const line of [
      'content-type: text/event-stream',
      'cache-control: no-cache, no-store, no-transform',
      'x-accel-buffering: no',
      'x-own: yes',
    ]) {
      expect(head).toContain(`\r\n${line}\r\n`);
    }
  });

  test('of a client that never reads is cut off before much waits for it', async () => {
    fill();
    expect(writer.isOpen).toBe(false);
    await once(socket.resume(), 'close');
  });

  test('has room at once where the client keeps up, and again when a slow one has read', async () => {
    socket.resume();
    await writer.drained(10);
    expect(writer.isOpen).toBe(true);
    socket.pause();
    let waited: Promise<string>;
    do {
      writer.event(BLOCK);
      waited = writer.drained(20_000).then(() => 'room');
    } while ((await Promise.race([waited, after(200)])) === 'room');
    socket.resume();
    expect(await waited).toBe('room');
    expect(writer.isOpen).toBe(true);
  });

  test('is cut off when a slow client takes too long', async () => {
    socket.pause();
    while (writer.isOpen) {
      writer.event(BLOCK);
      await writer.drained(50);
    }
    await once(socket.resume(), 'close');
  });

  test('is cut off at its end where the client does not read the rest, and left where it does', async () => {
    socket.pause();
    do writer.event(BLOCK);
    while ((await Promise.race([writer.drained(20_000).then(() => 'room'), after(200)])) === 'room');
    const over = new Promise<void>((resolve) => writer.onClose(resolve));
    writer.end();
    expect(await Promise.race([over, after(200)])).toBe('time');
    writer.endWithin(1);
    await over;
    const [head] = (await once(socket.resume(), 'data')) as [Buffer];
    expect(head.toString()).toContain('HTTP/1.1 200');
  });

  test('says at its end that it is over, also to who asks afterwards', async () => {
    let over = 0;
    writer.onClose(() => over++);
    writer.end();
    await once(socket.resume(), 'close');
    await expect.poll(() => over).toBe(1);
    writer.onClose(() => over++);
    expect(over).toBe(2);
    writer.event(BLOCK);
    expect(writer.isOpen).toBe(false);
  });
});

const after = (ms: number): Promise<string> => new Promise((resolve) => setTimeout(() => resolve('time'), ms));
