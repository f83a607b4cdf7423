import type { MessagePort } from 'node:worker_threads';
import type { Log, Meter } from '../../log.ts';
import { askForBlobs, type BlobRequest } from '../blob/blob-request.ts';
import type { Query } from '../engine/types.ts';
import type { TextIndexPaths } from './text-index.ts';
import { type TextSearchResult, type TextSearchQuery, TextWorker } from './text-worker.ts';

/** Messages between the main thread and the full-text thread. */
export type ToText =
  | { kind: 'wake'; sweep: boolean }
  | { kind: 'search'; id: number; name: string; input: unknown; textQuery: TextSearchQuery }
  | { kind: 'ping' }
  | { kind: 'close' };

export type FromText =
  | { kind: 'searched'; id: number; searched: TextSearchResult<unknown> }
  | { kind: 'failed'; id: number; message: string; stack: string }
  | { kind: 'said'; level: 'info' | 'warn'; fields: object; text: string }
  | { kind: 'measured'; how: 'gauge' | 'observe' | 'count'; name: string; value: number }
  /** The pending work is done. `swept`: the sweep that it had is complete; undefined: it had none. */
  | { kind: 'idle'; swept: boolean | undefined }
  | BlobRequest
  | { kind: 'pong' }
  | { kind: 'closed' };

/** Runs the full-text thread. */
export function runTextThread(port: MessagePort, place: TextIndexPaths, list: readonly Query<never, unknown>[]): void {
  const queries = new Map(list.map((query) => [query.name, query]));
  const say = (message: FromText): void => port.postMessage(message);
  askForBlobs(say);
  const worker = new TextWorker(place, logTo(say), meterTo(say));
  const search = async ({ id, name, input, textQuery }: ToText & { kind: 'search' }): Promise<void> => {
    try {
      const query = queries.get(name);
      if (query === undefined) throw new Error(`unknown query ${name}`);
      say({ kind: 'searched', id, searched: await worker.search(query, input as never, textQuery) });
    } catch (error) {
      const { message, stack } = error as Error;
      say({ kind: 'failed', id, message, stack: stack ?? '' });
    }
  };
  const wake = async (sweep: boolean): Promise<void> => {
    const complete = await worker.wake(sweep);
    say({ kind: 'idle', swept: sweep ? complete : undefined });
  };
  port.on('message', (message: ToText) => {
    if (message.kind === 'wake') void wake(message.sweep);
    else if (message.kind === 'search') void search(message);
    else if (message.kind === 'ping') say({ kind: 'pong' });
    else
      void worker.close().then(() => {
        say({ kind: 'closed' });
        port.close();
      });
  });
}

/** Errors lose their class between threads, so their text is sent. */
function logTo(say: (message: FromText) => void): Log {
  const line =
    (level: 'info' | 'warn') =>
    (fields: object, text: string): void => {
      const { err, ...rest } = fields as { err?: Error };
      say({ kind: 'said', level, fields: err === undefined ? rest : { ...rest, reason: err.message }, text });
    };
  return { debug: () => undefined, info: line('info'), warn: line('warn'), error: line('warn') };
}

/** These metrics have no labels. */
function meterTo(say: (message: FromText) => void): Meter {
  return {
    count: (name, _labels, value = 1) => say({ kind: 'measured', how: 'count', name, value }),
    gauge: (name, value) => say({ kind: 'measured', how: 'gauge', name, value }),
    observe: (name, value) => say({ kind: 'measured', how: 'observe', name, value }),
  };
}
