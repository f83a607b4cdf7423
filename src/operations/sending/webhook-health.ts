import { z } from 'zod';
import { countNotices } from '../../../mail/store/notice.ts';
import type { Webhook } from '../../sending/webhook-queries.ts';
import type { Call } from '../operation.ts';
import { isoOf, isoOrNull } from '../schemas.ts';

/** How a webhook does, of a mailbox or of the organization. */
export const Health = z.object({
  enabled: z.boolean(),
  createdAt: z.string(),
  lastDeliveryAt: z.string().nullable(),
  lastStatus: z.number().nullable(),
  consecutiveFailures: z.number(),
  disabledAt: z.string().nullable(),
  waiting: z.number(),
  givenUp: z.number(),
});

export async function healthOf({ store }: Call, hook: Webhook): Promise<z.output<typeof Health>> {
  const { waiting, dead } = await store.read(countNotices, { listener: hook.id });
  return {
    enabled: hook.disabledAt === null,
    createdAt: isoOf(hook.createdAt),
    lastDeliveryAt: isoOrNull(hook.lastDeliveryAt),
    lastStatus: hook.lastStatus,
    consecutiveFailures: hook.failures,
    disabledAt: isoOrNull(hook.disabledAt),
    waiting,
    givenUp: dead,
  };
}
