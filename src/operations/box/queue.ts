import { z } from 'zod';
import { OPERATOR_VIEW } from '../../../mail/store/journal.ts';
import { listQueue, type QueueRow } from '../../../mail/store/queue-rows.ts';
import type { Steering } from '../../../mail/store/queue-steering.ts';
import { operation } from '../operation.ts';
import { explain } from '../queue/explanation.ts';
import { steerMany } from '../queue/many.ts';
import { routeOf, Way } from '../queue/reroute.ts';
import { refuse } from '../refusal.ts';
import { Line } from '../schemas.ts';
import { Event, shownEntry } from '../trace/shown.ts';
import { storyOf } from '../trace/timeline.ts';

/** Ids of one command of the store. */
const SLICE = 500;
const EVERYTHING = { tenant: null, accounts: null, state: null, domain: null } as const;

export const queue = operation({
  name: 'list_box_queue',
  title: 'The whole queue',
  toolset: 'support',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Lists mail of all organizations that waits to leave. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    limit: z.number().int().min(1).max(10_000).default(1_000),
    domain: Line(1, 253).optional(),
    state: z.enum(['waiting', 'held']).optional(),
  }),
  output: z.object({ queue: z.array(z.looseObject({ id: z.number() })) }),
  async run({ store }, { limit, domain = null, state }) {
    const of = state === undefined ? null : state === 'held' ? ('held' as const) : ('due' as const);
    return { queue: (await store.scan(listQueue, { ...EVERYTHING, state: of, domain, after: 0, limit })).map(shown) };
  },
});

/** One operation for each thing that can be done to rows that wait, of whatever organization. */
const steer = (what: Steering, none: string) =>
  operation({
    name: `${what}_box_queue`,
    title: `${what} rows of the queue`,
    toolset: 'support',
    reach: 'organization',
    action: 'manage',
    socketOnly: true,
    description: `Does it to rows of all organizations: ${what}. All: at most 10,000 at a time, \`more\` says so.`,
    hints: { destructive: what === 'cancel', openWorld: what !== 'cancel' },
    input: z.strictObject({
      ids: z.union([z.literal('all'), z.array(z.number().int().positive()).min(1).max(10_000)]),
      domain: Line(1, 253).optional(),
      trace: Line(1, 200).optional(),
      ...(what === 'reroute' && { route: Way }),
    }),
    output: z.object({ changed: z.number(), more: z.boolean() }),
    async run(call, { ids, domain, trace: message, ...rest }) {
      const way = 'route' in rest ? Way.parse(rest.route) : undefined;
      const every = {
        what,
        tenant: null,
        accounts: null,
        ...(domain !== undefined && { domain }),
        ...(message !== undefined && { trace: message }),
        ...(way !== undefined && { route: routeOf(way, call) }),
      };
      if (ids === 'all') return steerMany(call, { ...every, ids }, { what });
      let changed = 0;
      for (let i = 0; i < ids.length; i += SLICE) {
        const done = await steerMany(call, { ...every, ids: ids.slice(i, i + SLICE) }, { what });
        changed += done.changed;
      }
      return changed === 0 ? refuse('not_found', none) : { changed, more: false };
    },
  });

export const retryQueue = steer('retry', 'None of these is waiting to be tried; what is held needs to be released.');
export const releaseQueue = steer('release', 'None of these is held, or their organization is frozen.');
export const cancelQueue = steer('cancel', 'None of these is in the queue.');

export const holdQueue = steer('hold', 'None of these is waiting.');
export const rerouteQueue = steer('reroute', 'None of these is in the queue.');

export const trace = operation({
  name: 'trace_box_message',
  title: 'What happened to a message',
  toolset: 'support',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Tells the story of one message by the id that the log and the SMTP answer give. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ trace: z.string().min(1).max(200) }),
  output: z.object({
    trace: z.string(),
    timeline: z.array(Event),
    events: z.array(z.looseObject({ event: z.string() })),
    waiting: z.array(z.looseObject({ id: z.number() })),
  }),
  async run({ store }, { trace: id }) {
    const story = await storyOf(store, OPERATOR_VIEW, id);
    if (story === undefined) return refuse('not_found', `Nothing is known of a message ${id}.`);
    const { lines, entries, waiting } = story;
    return {
      trace: id,
      timeline: entries.map(shownEntry),
      events: lines.map((line) => ({ ...line })),
      waiting: waiting.map(shown),
    };
  },
});

function shown(row: QueueRow) {
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
    explanation: explain(row),
    lastTls: row.last_tls,
  };
}
