import { z } from 'zod';
import { releaseWaiting } from '../../../mail/delivery/schedule.ts';
import { rowId } from '../../ids.ts';
import { operation } from '../operation.ts';
import { notFound } from '../refusal.ts';
import { Id } from '../schemas.ts';

/** For a person at the machine: no token lets its own mail go. */
export const releaseOutboxItem = operation({
  name: 'release_outbox_item',
  title: 'Let mail go that waits for a person',
  toolset: 'mail',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  description: 'Lets an email go that was held as a whole, of whatever organization.',
  hints: { openWorld: true },
  input: z.strictObject({ outboxId: Id('outbox') }),
  output: z.object({ released: z.literal(true) }),
  async run(call, { outboxId }) {
    const done = await call.change(releaseWaiting, { id: rowId('outbox', outboxId) ?? 0 }, outboxId);
    return done.kind === 'none' ? notFound('outbox item') : { released: true as const };
  },
});
