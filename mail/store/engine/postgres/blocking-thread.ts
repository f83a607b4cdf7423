import { workerData } from 'node:worker_threads';
import type { BlockingReply, BlockingRequest, BlockingThreadData } from './blocking.ts';
import { openPool, PostgresConnection } from './connection.ts';
import { isAway } from './errors.ts';

// Asks the database for a thread that waits.
const { url, port, answered } = workerData as BlockingThreadData;
const replies = new Int32Array(answered);
const connection = new PostgresConnection(openPool(url, 1), new Map());

async function answer({ how, sql, params }: BlockingRequest): Promise<BlockingReply> {
  try {
    return { ok: true, value: await connection[how](sql, params) };
  } catch (error) {
    const { message, code } = error as Error & { code?: unknown };
    return { ok: false, isAway: isAway(error), message, code };
  }
}

port.on('message', (request: BlockingRequest) => {
  void answer(request).then((reply) => {
    port.postMessage(reply);
    Atomics.add(replies, 0, 1);
    Atomics.notify(replies, 0);
  });
});
