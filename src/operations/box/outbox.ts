import { z } from 'zod';
import { sha256OfWaiting } from '../../approvals/octets.ts';
import { rowId } from '../../ids.ts';
import { releaseHeld } from '../../sending/held-commands.ts';
import { operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
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
    const id = rowId('outbox', outboxId) ?? 0;
    const sha256 = await sha256OfWaiting(call, id);
    const done = await call.change(releaseHeld, { id, ...(sha256 !== undefined && { sha256 }) }, outboxId);
    if (done.kind === 'frozen') {
      return refuse('conflict', 'Its organization is frozen: let that work again first (unfreeze_organization).');
    }
    return done.kind === 'none' ? notFound('outbox item') : { released: true as const };
  },
});
