import { z } from 'zod';
import { plainAddress } from '../../../mail/message/plain-address.ts';
import { BOX_SMARTHOST, DIRECT_ROUTE } from '../../../mail/relay/next-hop.ts';
import type { QueueRow } from '../../../mail/store/queue/queue-rows.ts';
import { publicId } from '../../core/ids.ts';
import { remoteText } from '../../untrusted/untrusted.ts';
import { isoOf } from '../../core/schemas.ts';
import { explain } from './explanation.ts';

/** One recipient in the queue. */
export const QueueItem = z.object({
  queueId: z.string(),
  messageId: z.string(),
  from: z.string(),
  to: z.string(),
  bytes: z.number(),
  state: z.enum(['waiting', 'held']),
  attempts: z.number(),
  queuedAt: z.string(),
  nextAttemptAt: z.string().nullable(),
  route: z.string().describe('automatic, direct, smarthost, or the route that was chosen for it'),
  lastTls: z.string().nullable(),
  requireTls: z.boolean(),
  explanation: z.string(),
  untrusted: z.object({ lastError: z.string().nullable() }).describe('what the other server said'),
});

export function itemOf(row: QueueRow): z.output<typeof QueueItem> {
  const held = row.state === 1;
  return {
    queueId: publicId('queue', row.id),
    messageId: row.trace,
    from: plainAddress(row.sender),
    to: plainAddress(row.recipient),
    bytes: row.size,
    state: held ? 'held' : 'waiting',
    attempts: row.attempts,
    queuedAt: isoOf(row.created_at),
    nextAttemptAt: held ? null : isoOf(row.next_at),
    route: wayOf(row.route),
    lastTls: row.last_tls === '' ? null : row.last_tls,
    requireTls: row.require_tls === 1,
    explanation: explain(row),
    untrusted: { lastError: row.last_text === null ? null : remoteText(row.last_text) },
  };
}

/** Returns the route chosen for this row alone. */
function wayOf(route: number | null): string {
  if (route === null) return 'automatic';
  if (route === DIRECT_ROUTE) return 'direct';
  return route === BOX_SMARTHOST ? 'smarthost' : publicId('route', route);
}
