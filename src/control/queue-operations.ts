import { journalOf } from '../../mail/store/journal.ts';
import { listQueue, type QueueRow, steerQueue } from '../../mail/store/queue.ts';
import { type ControlContext, operation, refuse, type Refusal } from './operation.ts';

/** The most rows of the queue that are looked at for one request. */
const MOST = 100_000;
/** What one command of the store may touch. */
const SLICE = 500;

export interface Queued {
  id: number;
  trace: string;
  from: string;
  to: string;
  bytes: number;
  attempts: number;
  queuedAt: number;
  /** Null: held, for the reason in `heldBecause`. */
  nextAt: number | null;
  heldBecause: string | null;
  lastStatus: string | null;
  lastText: string | null;
}

export const queue = operation({
  name: 'list_queue',
  input: (fields) => ({ limit: fields.number('limit', 1, 10_000, 1_000) }),
  run: async ({ store }, input) => ({ queue: (await store.read(listQueue, input)).map(shown) }),
});

/** One operation for each thing that a person can do to rows that wait. */
const steer = (name: string, what: 'retry' | 'release' | 'cancel') =>
  operation({
    name,
    input: (fields) => ({ ids: fields.idsOrAll('ids') }),
    async run(context, { ids }): Promise<{ changed: number } | Refusal> {
      const wanted = ids === 'all' ? await allIds(context) : ids;
      let changed = 0;
      for (let i = 0; i < wanted.length; i += SLICE) {
        changed += await context.store.writeSlice(steerQueue, { ids: wanted.slice(i, i + SLICE), what });
      }
      if (changed > 0 && what !== 'cancel') context.queueChanged();
      return changed === 0 && ids !== 'all' ? refuse('not_found', NONE[what]) : { changed };
    },
  });

const NONE = {
  retry: 'None of these is waiting to be tried; what is held needs to be released.',
  release: 'None of these is held.',
  cancel: 'None of these is in the queue.',
};

export const retryQueue = steer('retry_queue', 'retry');
export const releaseQueue = steer('release_queue', 'release');
export const cancelQueue = steer('cancel_queue', 'cancel');

export const trace = operation({
  name: 'trace_message',
  input: (fields) => ({ trace: fields.text('trace') }),
  async run({ store }, { trace: id }) {
    const [events, rows] = await Promise.all([
      store.read(journalOf, { trace: id }),
      store.read(listQueue, { limit: MOST }),
    ]);
    if (events.length === 0) return refuse('not_found', `Nothing is known of a message ${id}.`);
    return { trace: id, events, waiting: rows.filter((row) => row.trace === id).map(shown) };
  },
});

async function allIds({ store }: ControlContext): Promise<number[]> {
  return (await store.read(listQueue, { limit: MOST })).map((row) => row.id);
}

function shown(row: QueueRow): Queued {
  return {
    id: row.id,
    trace: row.trace,
    from: row.sender,
    to: row.recipient,
    bytes: row.size,
    attempts: row.attempts,
    queuedAt: row.created_at,
    nextAt: row.state === 0 ? row.next_at : null,
    heldBecause: row.held_because,
    lastStatus: row.last_status,
    lastText: row.last_text,
  };
}
