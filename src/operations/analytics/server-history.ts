import { z } from 'zod';
import { serverHours, deliveryPercentile, HOUR_MS, type HourNumbers, joinHours } from '../../history/queries.ts';
import { operation } from '../../core/operation.ts';
import { isoOf } from '../../core/schemas.ts';

const DAY_HOURS = 24;
/** From this length on, a point is a day. */
const MAX_HOURLY = 7 * DAY_HOURS;

const HistoryPoint = z.object({
  at: z.string(),
  queueOldestSeconds: z.number().describe('maximum'),
  queueDue: z.number().describe('maximum'),
  deliverySecondsP50: z.number().nullable().describe('queued to accepted by the recipient’s server; null: none'),
  deliverySecondsP95: z.number().nullable(),
  smtpAccepted: z.number(),
  smtpRejected: z.number(),
});

export const getServerHistory = operation({
  name: 'get_server_history',
  title: 'Get the history of the server',
  toolset: 'analytics',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  description:
    'For the operator: age and length of the queue, delivery times and messages of the whole server, by hour (7 days at most) or by day. Intervals without data are omitted. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    hours: z.number().int().min(1).max(2160).default(DAY_HOURS).describe('Length of the period until now'),
  }),
  output: z.object({ from: z.string(), series: z.array(HistoryPoint) }),
  rest: { method: 'GET', path: '/api/server/history' },
  async run({ store, clock }, { hours }) {
    const step = hours > MAX_HOURLY ? DAY_HOURS : 1;
    const now = Math.floor(clock() / HOUR_MS);
    const first = now - hours + 1;
    const from = first - (first % step);
    const found = await store.read(serverHours, { from });
    const points = Map.groupBy(found, ([hour]) => hour - (hour % step));
    return {
      from: isoOf(from * HOUR_MS),
      series: [...points].map(([hour, all]) => pointOf(hour, joinHours(all.map(([, numbers]) => numbers)))),
    };
  },
});

function pointOf(hour: number, numbers: HourNumbers): z.output<typeof HistoryPoint> {
  return {
    at: isoOf(hour * HOUR_MS),
    queueOldestSeconds: numbers['queue-oldest-seconds'] ?? 0,
    queueDue: numbers['queue-due'] ?? 0,
    deliverySecondsP50: deliveryPercentile(numbers, 0.5),
    deliverySecondsP95: deliveryPercentile(numbers, 0.95),
    smtpAccepted: numbers['smtp-accepted'] ?? 0,
    smtpRejected: numbers['smtp-rejected'] ?? 0,
  };
}
