import type { MessagePort } from 'node:worker_threads';
import type { Log, Meter } from '../../log.ts';
import type { Query } from '../engine/types.ts';
import type { TextPlace } from './text-index.ts';
import { type Searched, type TextAsked, TextWorker } from './text-worker.ts';

/** What crosses between the main thread and the full-text thread. */
export type ToText =
  | { kind: 'wake'; sweep: boolean }
  | { kind: 'search'; id: number; name: string; input: unknown; asked: TextAsked }
  | { kind: 'close' };

export type FromText =
  | { kind: 'searched'; id: number; searched: Searched<unknown> }
  | { kind: 'failed'; id: number; message: string; stack: string }
  | { kind: 'said'; level: 'info' | 'warn'; fields: object; text: string }
  | { kind: 'measured'; how: 'gauge' | 'observe' | 'count'; name: string; value: number }
  /** What it was woken for is done. */
  | { kind: 'idle' }
  | { kind: 'closed' };

/** The body of the full-text thread. */
export function runText(port: MessagePort, place: TextPlace, list: readonly Query<never, unknown>[]): void {
  const queries = new Map(list.map((query) => [query.name, query]));
  const say = (message: FromText): void => port.postMessage(message);
  const worker = new TextWorker(place, logTo(say), meterTo(say));
  const search = async ({ id, name, input, asked }: ToText & { kind: 'search' }): Promise<void> => {
    try {
      const query = queries.get(name);
      if (query === undefined) throw new Error(`no query is called ${name}`);
      say({ kind: 'searched', id, searched: await worker.search(query, input as never, asked) });
    } catch (error) {
      const { message, stack } = error as Error;
      say({ kind: 'failed', id, message, stack: stack ?? '' });
    }
  };
  port.on('message', (message: ToText) => {
    if (message.kind === 'wake') void worker.wake(message.sweep).then(() => say({ kind: 'idle' }));
    else if (message.kind === 'search') void search(message);
    else
      void worker.close().then(() => {
        say({ kind: 'closed' });
        port.close();
      });
  });
}

/** Errors lose what they are on the way: their text goes. */
function logTo(say: (message: FromText) => void): Log {
  const line =
    (level: 'info' | 'warn') =>
    (fields: object, text: string): void => {
      const { err, ...rest } = fields as { err?: Error };
      say({ kind: 'said', level, fields: err === undefined ? rest : { ...rest, reason: err.message }, text });
    };
  return { debug: () => undefined, info: line('info'), warn: line('warn'), error: line('warn') };
}

/** What is measured here has no labels. */
function meterTo(say: (message: FromText) => void): Meter {
  return {
    count: (name, _labels, value = 1) => say({ kind: 'measured', how: 'count', name, value }),
    gauge: (name, value) => say({ kind: 'measured', how: 'gauge', name, value }),
    observe: (name, value) => say({ kind: 'measured', how: 'observe', name, value }),
  };
}
