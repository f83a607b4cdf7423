import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { runTextThread } from '../search/text-thread.ts';
import { collectWhenIdle } from './idle-gc.ts';
import { openForReading } from './connection.ts';
import type { FromReader, FromWriter, ThreadData, ToReader, ToWriter } from './thread-messages.ts';
import type { Migration } from './migrate.ts';
import { openWriter } from './open-writer.ts';
import type { PostgresScans } from './postgres/scans.ts';
import { isPostgres } from './postgres/url.ts';
import { askForBlobs, BlobUnavailable } from '../blob/blob-request.ts';
import { ReaderPool } from './reader-pool.ts';
import { type Command, type Query, StoreBusy, type WriteHooks } from './types.ts';
import type { Failure, WriteJob } from './writer-host.ts';

/** Commands, queries, migrations and hooks of the store threads: explicit lists, so no import registers anything. */
export interface ThreadParts {
  commands: readonly Command<never, unknown>[];
  queries: readonly Query<never, unknown>[];
  migrations: readonly Migration[];
  hooks: WriteHooks;
}

/** Runs a store thread: the writer, the reader for scans, or full text. */
export function runStoreThread(parts: ThreadParts): void {
  const port = parentPort;
  if (port === null) throw new Error('this module runs only as a store thread');
  const data = workerData as ThreadData;
  collectWhenIdle();
  if (data.role === 'writer') void runWriter(port, data.database, parts);
  else if (data.role === 'reader') runReader(port, data, parts);
  else runTextThread(port, data.place, parts.queries);
}

async function runWriter(port: MessagePort, database: string, parts: ThreadParts): Promise<void> {
  const say = (message: FromWriter): void => port.postMessage(message);
  const take = (message: ToWriter): WriteJob[] => {
    if (message.kind === 'jobs') return message.jobs;
    if (message.kind === 'close') closing = true;
    return [];
  };
  let closing = false;
  const finish = async (): Promise<void> => {
    await writer.close();
    say({ kind: 'closed' });
    port.close();
  };
  const writer = await openWriter(database, parts, {
    // Does not wait for the event loop: what arrived during the flush is the next batch.
    more() {
      const jobs: WriteJob[] = [];
      for (let got = receiveMessageOnPort(port); got !== undefined; got = receiveMessageOnPort(port)) {
        jobs.push(...take(got.message as ToWriter));
      }
      return jobs;
    },
    answer: (answers, wakeUps) => say({ kind: 'answers', answers, wakeUps }),
    fatal: (failure) => say({ kind: 'fatal', failure }),
    idle() {
      if (closing) void finish();
    },
    upgrading: (step) => say({ kind: 'upgrading', step }),
  });
  port.on('message', (message: ToWriter) => {
    writer.submit(take(message));
  });
  say({ kind: 'ready' });
}

function runReader(
  port: MessagePort,
  { database, running }: ThreadData & { role: 'reader' },
  parts: ThreadParts,
): void {
  const reader = openScans(database, new Int32Array(running));
  const queries = new Map(parts.queries.map((query) => [query.name, query]));
  const say = (message: FromReader): void => port.postMessage(message);
  askForBlobs(say);
  const answer = async ({ id, name, input }: ToReader & { kind: 'query' }): Promise<void> => {
    try {
      const query = queries.get(name);
      if (query === undefined) throw new Error(`unknown query ${name}`);
      const value = await (await reader).query(query, input as never, id);
      say({ kind: 'answer', answer: { id, ok: true, value } });
    } catch (error) {
      const { message, stack } = error as Error;
      const reason = error instanceof BlobUnavailable ? 'bucket' : reasonOf(error);
      say({ kind: 'answer', answer: { id, ok: false, failure: { message, stack: stack ?? '', reason } } });
    }
  };
  port.on('message', (message: ToReader) => {
    if (message.kind === 'query') void answer(message);
    else if (message.kind === 'ping') say({ kind: 'pong' });
    else {
      void reader.then((opened) => opened.close());
      say({ kind: 'closed' });
      port.close();
    }
  });
}

/** Opens what runs the queries of a reader thread. */
async function openScans(database: string, running: Int32Array): Promise<ReaderPool | PostgresScans> {
  if (!isPostgres(database)) return new ReaderPool(() => openForReading(database), running);
  const engine = await import('./postgres/scans.ts');
  return new engine.PostgresScans(database);
}

function reasonOf(error: unknown): Failure['reason'] {
  return error instanceof StoreBusy && error.reason === 'database' ? 'database' : 'fault';
}
