import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { SocketWriter } from '../../../src/jmap/socket-writer.ts';

/** A socket whose client reads one frame at a time, when the test says so. */
class SlowSocket {
  readonly OPEN = 1;
  readyState = 1;
  readonly frames: { text: string; fin: boolean }[] = [];
  #read: (() => void) | undefined;

  send(text: string, { fin }: { fin: boolean }, sent: () => void): void {
    this.frames.push({ text, fin });
    this.#read = sent;
  }

  terminate(): void {
    this.readyState = 3;
  }

  /** Reads the frame that is under way, and all that follow. */
  async drain(): Promise<void> {
    while (this.#read !== undefined) {
      const read = this.#read;
      this.#read = undefined;
      read();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a long message leaves in fragments, one at a time, and no other comes in between', async () => {
  const socket = new SlowSocket();
  const writer = new SocketWriter(socket as unknown as WebSocket);
  const long = { list: Array.from({ length: 5_000 }, (_, i) => ({ i, text: '"\u0000é'.repeat(50) })) };
  const sent = writer.send(long);
  const next = writer.send({ a: 1 });
  await turn();
  expect(socket.frames).toHaveLength(1);
  await socket.drain();
  await Promise.all([sent, next]);
  const last = socket.frames.pop();
  expect(last).toEqual({ text: '{"a":1}', fin: true });
  expect(socket.frames.map(({ fin }) => fin)).toEqual([...socket.frames.slice(1).map(() => false), true]);
  expect(socket.frames.length).toBeGreaterThan(10);
  expect(Math.max(...socket.frames.map(({ text }) => text.length))).toBeLessThan(512 * 1024);
  expect(JSON.parse(socket.frames.map(({ text }) => text).join(''))).toEqual(long);
});

test('a client that reads nothing is disconnected, and what waited for it is resolved', async () => {
  const socket = new SlowSocket();
  const writer = new SocketWriter(socket as unknown as WebSocket);
  const all = Array.from({ length: 300 }, (_, i) => writer.send({ i }));
  expect(socket.readyState).toBe(3);
  await turn();
  await socket.drain();
  await Promise.all(all);
  expect(socket.frames).toHaveLength(0);
});
