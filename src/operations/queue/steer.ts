import { z } from 'zod';
import type { Steering } from '../../../mail/store/queue/queue-change.ts';
import { rowId } from '../../core/ids.ts';
import { resumeUnfrozenQueue } from '../../sending/held-commands.ts';
import { type AffectedMailboxes, type Call, type Hints, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id } from '../../core/schemas.ts';
import { allowedAccounts } from '../scope.ts';
import { unlessOwnMail } from './own-mail.ts';
import { findQueueRow } from './read.ts';

/** Declares one operation per action on queued mail. */
function steering(
  what: Exclude<Steering, 'reroute'>,
  title: string,
  description: string,
  wrongState: string,
  hints: Partial<Hints> = {},
) {
  return operation({
    name: `${what}_queue_item`,
    title,
    toolset: 'email',
    reach: 'mailbox',
    action: 'manage',
    description,
    hints: { idempotent: true, ...hints },
    ...(what === 'cancel' && { rule: ofOthers }),
    input: z.strictObject({ queueId: Id('queue') }),
    output: z.object({ queueId: z.string(), changed: z.literal(true) }),
    async run(call, { queueId }) {
      const id = rowId('queue', queueId) ?? notFound('queue item');
      const accounts = await allowedAccounts(call);
      const byToken = call.caller.kind === 'token';
      const steer = { ids: [id], what, tenant: call.tenant, accounts, byToken };
      const { kind } = await call.change(resumeUnfrozenQueue, steer, queueId);
      if (kind === 'none') refuse('not_found', wrongState, { resource: 'queue item' });
      if (what === 'retry' || what === 'release') call.queueChanged();
      return { queueId, changed: true as const };
    },
  });
}

async function ofOthers(call: Call, { queueId }: { queueId: string }): Promise<AffectedMailboxes | undefined> {
  const { trace, account_id: account } = await findQueueRow(call, rowId('queue', queueId) ?? notFound('queue item'));
  return unlessOwnMail(call, { trace, account });
}

export const retryQueueItem = steering(
  'retry',
  'Retry a queued message now',
  'Attempts delivery to one waiting recipient now instead of at its next time.',
  'No such waiting item in this organization. If it is held, use release_queue_item.',
  { openWorld: true },
);

export const holdQueueItem = steering(
  'hold',
  'Hold a queued message',
  'Holds one waiting recipient until released or cancelled.',
  'No such waiting item in this organization.',
);

export const releaseQueueItem = steering(
  'release',
  'Release a held message',
  'Releases one held recipient: it is sent at once.',
  'No such held item in this organization, or a person held it: then only a person releases it, in the portal.',
  { openWorld: true },
);

export const cancelQueueItem = steering(
  'cancel',
  'Cancel a queued message',
  'Removes one recipient from the queue permanently: never sent, no bounce.',
  'No such item in the queue of this organization, or a person held it: then only a person cancels it.',
  { destructive: true },
);
