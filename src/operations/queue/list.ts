import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import { listQueue } from '../../../mail/store/queue/queue-rows.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { recordUntrustedText } from '../../reading/read-record.ts';
import { firstFitting, pageBudget } from '../../untrusted/result-budget.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { nextCursor, Page, DomainName } from '../../core/schemas.ts';
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
    'Lists queued mail of this organization, one line per recipient, with the reason for the wait. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    state: z.enum(['waiting', 'held']).describe('Only this state').optional(),
    domain: DomainName.describe('Only mail to this domain').optional(),
    ...Page,
  }),
  output: z.object({ items: z.array(QueueItem), nextCursor }),
  rest: { method: 'GET', path: '/api/email/queue' },
  async run(call, { state, domain, cursor, limit }) {
    const after = cursor === undefined ? 0 : rowId('queue', cursor);
    if (after === undefined)
      refuse('invalid_arguments', 'cursor is invalid: use the nextCursor of list_queue.', {
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
    const items = firstFitting(rows.slice(0, limit).map(itemOf), pageBudget(limit));
    const page = rows.slice(0, items.length);
    // Mail of no mailbox may be forwarded: its sender's address is an outsider's word.
    if (page.some((row) => row.account_id === null || row.last_text !== null)) await recordUntrustedText(call);
    const last = page.at(-1);
    const more = rows.length > page.length && last !== undefined;
    return { items, nextCursor: more ? publicId('queue', last.id) : null };
  },
});
