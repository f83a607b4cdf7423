import { z } from 'zod';
import { OPERATOR_VIEW } from '../../../mail/store/journal/journal.ts';
import { listQueue, type QueueRow } from '../../../mail/store/queue/queue-rows.ts';
import type { Steering } from '../../../mail/store/queue/queue-change.ts';
import { operation } from '../../core/operation.ts';
import { explain } from '../queue/explanation.ts';
import { steerMany } from '../queue/many.ts';
import { routeOf, RouteChoice } from '../queue/reroute.ts';
import { refuse } from '../../core/refusal.ts';
import { Line, DomainName, PageSize } from '../../core/schemas.ts';
import { Event, shownEntry } from '../trace/shown.ts';
import { timelineOf } from '../trace/timeline.ts';

/** Maximum ids per command of the store. */
const SLICE = 500;
const EVERYTHING = { tenant: null, accounts: null, state: null, domain: null } as const;

export const queue = operation({
  name: 'list_box_queue',
  title: 'List the whole queue',
  toolset: 'support',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Lists queued mail of all organizations. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    limit: PageSize(10_000, 1_000),
    domain: DomainName.describe('Only mail to this domain').optional(),
    state: z.enum(['waiting', 'held']).describe('Only this state').optional(),
  }),
  output: z.object({ queue: z.array(z.looseObject({ id: z.number() })) }),
  async run({ store }, { limit, domain = null, state }) {
    const of = state === undefined ? null : state === 'held' ? ('held' as const) : ('due' as const);
    return { queue: (await store.scan(listQueue, { ...EVERYTHING, state: of, domain, after: 0, limit })).map(shown) };
  },
});

/** Declares one operation per action on queue rows, for all organizations. */
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
      ids: z
        .union([z.literal('all'), z.array(z.number().int().positive()).min(1).max(10_000)])
        .describe('Queue numbers, or "all"'),
      domain: DomainName.describe('With all: only mail to this domain').optional(),
      trace: Line(1, 200).describe('With all: only this message id').optional(),
      ...(what === 'reroute' && { route: RouteChoice }),
    }),
    output: z.object({ changed: z.number(), more: z.boolean() }),
    async run(call, { ids, domain, trace: message, ...rest }) {
      const way = 'route' in rest ? RouteChoice.parse(rest.route) : undefined;
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

export const retryQueue = steer('retry', 'None of these is waiting to be retried; release held ones first.');
export const releaseQueue = steer('release', 'None of these is held, or their organization is frozen.');
export const cancelQueue = steer('cancel', 'None of these is in the queue.');

export const holdQueue = steer('hold', 'None of these is waiting.');
export const rerouteQueue = steer('reroute', 'None of these is in the queue.');

export const trace = operation({
  name: 'trace_box_message',
  title: 'Trace a message',
  toolset: 'support',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Returns the timeline of one message by the id in the log and the SMTP reply. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ trace: z.string().min(1).max(200).describe('Message id of the log or the SMTP reply') }),
  output: z.object({
    trace: z.string(),
    timeline: z.array(Event),
    events: z.array(z.looseObject({ event: z.string() })),
    waiting: z.array(z.looseObject({ id: z.number() })),
  }),
  async run({ store }, { trace: id }) {
    const timeline = await timelineOf(store, OPERATOR_VIEW, id);
    if (timeline === undefined) return refuse('not_found', `No message ${id} in the journal.`);
    const { lines, entries, waiting } = timeline;
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
    heldBecause: row.hold_reason,
    lastStatus: row.last_status,
    lastText: row.last_text,
    explanation: explain(row),
    lastTls: row.last_tls,
  };
}
