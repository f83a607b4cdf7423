import { z } from 'zod';
import type { Steering } from '../../../mail/store/queue-steering.ts';
import { rowId } from '../../ids.ts';
import { steerUnfrozen } from '../../sending/held-commands.ts';
import { type Hints, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id } from '../schemas.ts';
import { allowedAccounts } from '../scope.ts';

/** One operation for each thing that a person can do to mail that waits. */
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
    input: z.strictObject({ queueId: Id('queue') }),
    output: z.object({ queueId: z.string(), changed: z.literal(true) }),
    async run(call, { queueId }) {
      const id = rowId('queue', queueId) ?? notFound('queue item');
      const accounts = await allowedAccounts(call);
      const byToken = call.caller.kind === 'token';
      const steer = { ids: [id], what, tenant: call.tenant, accounts, byToken };
      const { kind } = await call.change(steerUnfrozen, steer, queueId);
      if (kind === 'none') refuse('not_found', wrongState, { resource: 'queue item' });
      if (what === 'retry' || what === 'release') call.queueChanged();
      return { queueId, changed: true as const };
    },
  });
}

export const retryQueueItem = steering(
  'retry',
  'Try a queued mail now',
  'Tries the delivery of one waiting recipient now instead of at its next time.',
  'There is no such item waiting to be tried in this organization; what is held needs release_queue_item.',
  { openWorld: true },
);

export const holdQueueItem = steering(
  'hold',
  'Hold a queued mail',
  'Keeps one waiting recipient back until it is released or cancelled.',
  'There is no such waiting item in this organization.',
);

export const releaseQueueItem = steering(
  'release',
  'Release a held mail',
  'Lets one held recipient go: it is sent at once.',
  'There is no such held item in this organization.',
  { openWorld: true },
);

export const cancelQueueItem = steering(
  'cancel',
  'Cancel a queued mail',
  'Takes one recipient out of the queue for good: it is never sent, and no bounce is made.',
  'There is no such item in the queue of this organization.',
  { destructive: true },
);
