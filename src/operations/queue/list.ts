import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import { listQueue } from '../../../mail/store/queue-rows.ts';
import { publicId, rowId } from '../../ids.ts';
import { noteOutsidersText } from '../../reading/exposure.ts';
import { firstFitting, pageRoom } from '../../untrusted/room.ts';
import { operation } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { Line, nextCursor, Page } from '../schemas.ts';
import { allowedAccounts } from '../scope.ts';
import { itemOf, QueueItem } from './item.ts';

export const listQueueItems = operation({
  name: 'list_queue',
  title: 'List the queue',
  toolset: 'email',
  reach: 'mailbox',
  action: 'read',
  untrusted: true,
  description:
    'Lists mail of this organization that waits to leave, one line a recipient, with why it waits. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    state: z.enum(['waiting', 'held']).optional(),
    domain: Line(1, 253).optional().describe('only mail for this destination'),
    ...Page,
  }),
  output: z.object({ items: z.array(QueueItem), nextCursor }),
  rest: { method: 'GET', path: '/api/email/queue' },
  async run(call, { state, domain, cursor, limit }) {
    const after = cursor === undefined ? 0 : rowId('queue', cursor);
    if (after === undefined)
      refuse('invalid_arguments', 'The cursor is not one that list_queue gave.', {
        issues: [{ path: 'cursor', message: 'unknown' }],
      });
    const rows = await call.store.scan(listQueue, {
      tenant: call.tenant,
      accounts: await allowedAccounts(call),
      state: state === undefined ? null : state === 'held' ? 'held' : 'due',
      domain: domain === undefined ? null : (parseDomain(domain) ?? domain),
      after,
      limit: limit + 1,
    });
    const items = firstFitting(rows.slice(0, limit).map(itemOf), pageRoom(limit));
    const page = rows.slice(0, items.length);
    if (page.some((row) => row.last_text !== null)) await noteOutsidersText(call);
    const last = page.at(-1);
    const more = rows.length > page.length && last !== undefined;
    return { items, nextCursor: more ? publicId('queue', last.id) : null };
  },
});
