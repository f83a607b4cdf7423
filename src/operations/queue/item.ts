import { z } from 'zod';
import type { QueueRow } from '../../../mail/store/queue.ts';
import { publicId } from '../../ids.ts';
import { isoOf } from '../schemas.ts';

/** One recipient that has not got a message yet. */
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
  lastError: z.string().nullable(),
  lastTls: z.string().nullable(),
  requireTls: z.boolean(),
  explanation: z.string(),
});

export function itemOf(row: QueueRow): z.output<typeof QueueItem> {
  const held = row.state === 1;
  return {
    queueId: publicId('queue', row.id),
    messageId: row.trace,
    from: row.sender,
    to: row.recipient,
    bytes: row.size,
    state: held ? 'held' : 'waiting',
    attempts: row.attempts,
    queuedAt: isoOf(row.created_at),
    nextAttemptAt: held ? null : isoOf(row.next_at),
    lastError: row.last_text,
    lastTls: row.last_tls === '' ? null : row.last_tls,
    requireTls: row.require_tls === 1,
    explanation: explain(row),
  };
}

function explain(row: QueueRow): string {
  if (row.state === 1)
    return `It is held: ${row.held_because ?? 'no reason was given'}. Release it to send it, or cancel it.`;
  if (row.attempts === 0) return 'It has not been tried yet.';
  return `${row.attempts} ${row.attempts === 1 ? 'attempt' : 'attempts'} so far; the last one was answered: ${row.last_text ?? 'no answer'}. It is tried again by itself.`;
}
