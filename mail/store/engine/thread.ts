import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { runText } from '../search/text-thread.ts';
import { giveBackAtRest } from './at-rest.ts';
import { openForReading, openForWriting } from './connection.ts';
import type { FromReader, FromWriter, ThreadData, ToReader, ToWriter } from './messages.ts';
import { migrate, type Migration } from './migrate.ts';
import { Readers } from './readers.ts';
import type { Command, Query } from './types.ts';
import { type Job, Writer } from './writer.ts';

/** What the composition root of the threads hands over: explicit lists, so nothing registers itself by being imported. */
export interface ThreadParts {
  commands: readonly Command<never, unknown>[];
  queries: readonly Query<never, unknown>[];
  migrations: readonly Migration[];
}

/** The body of a store thread: the writer, a reader for what may scan, or full text. */
export function runStoreThread(parts: ThreadParts): void {
  const port = parentPort;
  if (port === null) throw new Error('this module is a thread of the store, not a program');
  const data = workerData as ThreadData;
  giveBackAtRest();
  if (data.role === 'writer') runWriter(port, data.database, parts);
  else if (data.role === 'reader') runReader(port, data.database, parts);
  else runText(port, data.place, parts.queries);
}

function runWriter(port: MessagePort, database: string, parts: ThreadParts): void {
  const say = (message: FromWriter): void => port.postMessage(message);
  const connection = openForWriting(database);
  migrate(connection, parts.migrations);
  const take = (message: ToWriter): Job[] => {
    if (message.kind === 'jobs') return message.jobs;
    if (message.kind === 'close') closing = true;
    return [];
  };
  let closing = false;
  const finish = (): void => {
    connection.close();
    say({ kind: 'closed' });
    port.close();
  };
  const writer = new Writer(connection, parts.commands, {
    // Without a turn of the event loop: what arrived while the disk flushed is the next batch.
    more() {
      const jobs: Job[] = [];
      for (let got = receiveMessageOnPort(port); got !== undefined; got = receiveMessageOnPort(port)) {
        jobs.push(...take(got.message as ToWriter));
      }
      return jobs;
    },
    answer: (answers, wakeUps) => say({ kind: 'answers', answers, wakeUps }),
    fatal: (failure) => say({ kind: 'fatal', failure }),
    idle() {
      if (closing) finish();
    },
  });
  port.on('message', (message: ToWriter) => {
    writer.submit(take(message));
  });
  say({ kind: 'ready' });
}

function runReader(port: MessagePort, database: string, parts: ThreadParts): void {
  const reader = new Readers(() => openForReading(database));
  const queries = new Map(parts.queries.map((query) => [query.name, query]));
  const say = (message: FromReader): void => port.postMessage(message);
  const answer = async ({ id, name, input }: ToReader & { kind: 'query' }): Promise<void> => {
    try {
      const query = queries.get(name);
      if (query === undefined) throw new Error(`no query is called ${name}`);
      const value = await reader.query(query, input as never);
      say({ kind: 'answer', answer: { id, ok: true, value } });
    } catch (error) {
      const { message, stack } = error as Error;
      say({ kind: 'answer', answer: { id, ok: false, failure: { message, stack: stack ?? '', reason: 'fault' } } });
    }
  };
  port.on('message', (message: ToReader) => {
    if (message.kind === 'query') void answer(message);
    else {
      reader.close();
      say({ kind: 'closed' });
      port.close();
    }
  });
}
