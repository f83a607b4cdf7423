import { z } from 'zod';
import { canonicalName } from '../../../mail/imap/wire/mailbox-name.ts';
import { legalHolds, MAX_RULES, retentionOf, setLegalHold, setRetention } from '../../../mail/store/retention/rules.ts';
import { publicId } from '../../core/ids.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { isoOf, Line } from '../../core/schemas.ts';
import { MailboxArguments } from '../mailboxes/shown.ts';
import { mailboxOf } from '../scope.ts';

const Days = z.number().int().min(1).max(36_500);
const Rule = z.strictObject({ folder: Line(1, 1000), days: Days });
const Retention = z.object({
  deletedDays: z.number(),
  trashDays: z.number().nullable(),
  junkDays: z.number().nullable(),
  rules: z.array(z.object({ folder: z.string(), days: z.number() })),
  holds: z.array(z.object({ mailboxId: z.string(), reason: z.string(), heldBy: z.string(), heldAt: z.string() })),
});

export const getRetention = operation({
  name: 'get_retention',
  title: 'Get retention rules',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  peopleOnly: true,
  description:
    'Returns how long deleted messages can be restored, the ages at which folders are emptied, and legal holds.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: Retention,
  async run({ store, tenant }) {
    const holds = await store.read(legalHolds, { tenant });
    return {
      ...(await store.read(retentionOf, { tenant })),
      holds: holds.map(({ account, reason, heldBy, heldAt }) => ({
        mailboxId: publicId('mailbox', account),
        reason,
        heldBy,
        heldAt: isoOf(heldAt),
      })),
    };
  },
});

export const changeRetention = operation({
  name: 'set_retention',
  title: 'Set retention rules',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  peopleOnly: true,
  description:
    'Sets how long deleted messages can be restored, and the ages in days at which Trash, Junk and named folders are emptied.',
  hints: { idempotent: true },
  input: z.strictObject({
    deletedDays: Days.describe('Days for which deleted messages can be restored').optional(),
    trashDays: Days.nullable().describe('null: never').optional(),
    junkDays: Days.nullable().describe('null: never').optional(),
    rules: z.array(Rule).max(MAX_RULES).describe('Folders by full name').optional(),
  }),
  output: z.object({ set: z.literal(true) }),
  async run(call, given) {
    const now = await call.store.read(retentionOf, { tenant: call.tenant });
    const rules = (given.rules ?? now.rules).map(({ folder, days }) => ({ folder: nameOf(folder), days }));
    const next = {
      deletedDays: given.deletedDays ?? now.deletedDays,
      trashDays: given.trashDays === undefined ? now.trashDays : given.trashDays,
      junkDays: given.junkDays === undefined ? now.junkDays : given.junkDays,
    };
    const unique = [...new Map(rules.map((rule) => [rule.folder, rule])).values()];
    const input = { tenant: call.tenant, ...next, rules: unique };
    await call.change(setRetention, input, publicId('organization', call.tenant), next);
    return { set: true as const };
  },
});

function nameOf(folder: string): string {
  return (
    canonicalName(folder) ??
    refuse('invalid_arguments', `${JSON.stringify(folder)} is no name of a folder.`, {
      issues: [{ path: 'rules', message: 'has no name of a folder' }],
    })
  );
}

export const changeLegalHold = operation({
  name: 'set_legal_hold',
  title: 'Place or lift a legal hold',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  peopleOnly: true,
  description:
    'Places a mailbox under legal hold: nothing of it is purged, whatever people delete. Without a reason lifts it.',
  hints: { idempotent: true },
  input: z.strictObject({ ...MailboxArguments, reason: Line(1, 300).describe('Left out: lifts the hold').optional() }),
  output: z.object({ held: z.boolean() }),
  async run(call, { reason = null, ...which }) {
    const { id: account, address } = await mailboxOf(call, which);
    const input = { tenant: call.tenant, account, reason, by: call.caller.actor };
    await call.change(setLegalHold, input, publicId('mailbox', account), { address, reason });
    return { held: reason !== null };
  },
});
