import { z } from 'zod';
import { type Canary, canariesOf, canaryHome, type CanaryTrip, tripsOf } from '../../../mail/agents/canary/canary.ts';
import { removeCanary, settleCanary } from '../../../mail/agents/canary/commands.ts';
import { nameOfCredential } from '../../canaries/trip-commands.ts';
import { publicMessageId } from '../../core/message-ids.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { InMailbox, namedMailbox } from '../reading/mailbox-arguments.ts';
import { notFound } from '../../core/refusal.ts';
import { Id, isoOf, isoOrNull } from '../../core/schemas.ts';
import { mailboxOf } from '../scope.ts';

const Trip = z.object({
  by: z.string().describe('a token, or the mailbox whose password it was; empty: nobody knows'),
  name: z.string(),
  at: z.string(),
  door: z.string(),
  what: z.enum(['opened', 'shown', 'sent', 'written-to']),
  addresses: z.array(z.string()),
  settledAt: z.string().nullable(),
});

export const ShownCanary = z.object({
  canaryId: z.string(),
  label: z.string(),
  messageId: z.string().nullable(),
  address: z.string().nullable(),
  hasHoneytoken: z.boolean(),
  plantedBy: z.string(),
  plantedAt: z.string(),
  trips: z.array(Trip),
});

export const listCanaries = operation({
  name: 'list_canaries',
  title: 'List canaries',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'read',
  peopleOnly: true,
  description: 'Lists the canaries of a mailbox, and who touched each. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(InMailbox),
  output: z.object({ canaries: z.array(ShownCanary) }),
  async run(call, { mailbox }) {
    const { id: account } = await namedMailbox(call, mailbox);
    const [all, trips] = await Promise.all([
      call.store.read(canariesOf, { account }),
      call.store.read(tripsOf, { account }),
    ]);
    const named = await Promise.all(
      trips.map(async (one) => ({ ...one, name: await call.store.read(nameOfCredential, one) })),
    );
    const byCanary = Map.groupBy(named, ({ canary }) => canary);
    return { canaries: all.map((one) => shownCanary(one, byCanary.get(one.id))) };
  },
});

export function shownCanary(
  { id, label, email, address, secret, madeBy, madeAt }: Canary,
  trips: readonly (CanaryTrip & { name: string })[] = [],
): z.output<typeof ShownCanary> {
  return {
    canaryId: publicId('canary', id),
    label,
    messageId: email === null ? null : publicMessageId(email),
    address,
    hasHoneytoken: secret,
    plantedBy: madeBy,
    plantedAt: isoOf(madeAt),
    trips: trips.map(({ credential: by, name, at, protocol: door, what, about: addresses, settledAt }) => ({
      by,
      name: by === '' ? '' : name,
      at: isoOf(at),
      door,
      what,
      addresses,
      settledAt: isoOrNull(settledAt),
    })),
  };
}

const CanaryId = z.strictObject({ canaryId: Id('canary') });

export const dropCanary = operation({
  name: 'remove_canary',
  title: 'Remove a canary',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  peopleOnly: true,
  description:
    'Removes a canary, its message from the mailbox, its address and its history. Tokens that it froze stay frozen.',
  hints: { destructive: true, idempotent: true },
  input: CanaryId,
  output: z.object({ removed: z.literal(true) }),
  async run(call, { canaryId }) {
    const id = await namedCanary(call, canaryId);
    const { kind } = await call.change(removeCanary, { tenant: call.tenant, id }, canaryId);
    return kind === 'missing' ? notFound('canary') : { removed: true as const };
  },
});

export const settleTrips = operation({
  name: 'settle_canary',
  title: 'Rearm a canary',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  peopleOnly: true,
  description:
    'Records that a person reviewed who touched a canary: the next touch freezes again. The password of its mailbox works again; tokens stay frozen.',
  hints: { idempotent: true },
  input: CanaryId,
  output: z.object({ settled: z.literal(true) }),
  async run(call, { canaryId }) {
    const id = await namedCanary(call, canaryId);
    const { kind } = await call.change(settleCanary, { tenant: call.tenant, id }, canaryId);
    return kind === 'missing' ? notFound('canary') : { settled: true as const };
  },
});

async function namedCanary(call: Call, canaryId: string): Promise<number> {
  const id = rowId('canary', canaryId) ?? 0;
  const account = await call.store.read(canaryHome, { tenant: call.tenant, id });
  if (account === undefined) return notFound('canary');
  await mailboxOf(call, { mailboxId: publicId('mailbox', account) });
  return id;
}
