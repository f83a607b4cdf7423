import { z } from 'zod';
import { sha256OfHeld } from '../../approvals/octets.ts';
import { rowId } from '../../core/ids.ts';
import { releaseHeld } from '../../sending/held-commands.ts';
import { operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id } from '../../core/schemas.ts';

/** For a person at the machine: no token releases its own mail. */
export const releaseOutboxItem = operation({
  name: 'release_outbox_item',
  title: 'Release a held email',
  toolset: 'mail',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  description: 'Releases an email that was held as a whole, of any organization.',
  hints: { openWorld: true },
  input: z.strictObject({ outboxId: Id('outbox') }),
  output: z.object({ released: z.literal(true) }),
  async run(call, { outboxId }) {
    const id = rowId('outbox', outboxId) ?? 0;
    const sha256 = await sha256OfHeld(call, id);
    const done = await call.change(releaseHeld, { id, ...(sha256 !== undefined && { sha256 }) }, outboxId);
    if (done.kind === 'frozen') {
      return refuse('conflict', 'Its organization is frozen: unfreeze it first (unfreeze_organization).');
    }
    return done.kind === 'none' ? notFound('outbox item') : { released: true as const };
  },
});
