import { z } from 'zod';
import {
  quarantineCandidates,
  type QuarantineRelease,
  quarantineReleases,
} from '../../../mail/agents/quarantine/release.ts';
import { recordTaint } from '../../reading/read-record.ts';
import { messageText } from '../../reading/message-text.ts';
import { MsgSummary } from '../../reading/summary-schema.ts';
import { inBatches, type LoadedMessage, loadMessages, summaryOf } from '../../reading/summary.ts';
import { isQuarantined } from '../../reading/quarantine.ts';
import { firstFitting, pageBudget } from '../../untrusted/result-budget.ts';
import { publicMessageId, rowIn } from '../../core/message-ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { InMailbox, MessageId, namedMailbox } from '../reading/mailbox-arguments.ts';
import { isoOrNull, nextCursor, PageSize, CURSOR } from '../../core/schemas.ts';
import type { Mailbox } from '../scope.ts';

const Item = MsgSummary.pick({ id: true, threadId: true, from: true, receivedAt: true, trust: true }).extend({
  state: z.enum(['withheld', 'requested', 'released', 'people_only']),
  requestedAt: z.string().nullable(),
  untrusted: MsgSummary.shape.untrusted
    .pick({ subject: true, fromName: true })
    .extend({ reason: z.string().describe('why it was requested, in the words of who did') }),
});

export const listQuarantine = operation({
  name: 'list_quarantine',
  title: 'List quarantined messages',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'mail_read',
  untrusted: true,
  description:
    'Lists messages hidden from agents (content_quarantined), with the decision about each. A page may be empty although more follow. Changes nothing.',
  hints: { readOnly: true, idempotent: true, openWorld: true },
  input: z.strictObject({
    ...InMailbox,
    cursor: MessageId.describe(CURSOR).optional(),
    limit: PageSize(25, 25),
  }),
  output: z.object({ items: z.array(Item), nextCursor }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailbox/quarantine' },
  async run(call, { mailbox, cursor, limit }) {
    const box = await namedMailbox(call, mailbox, cursor);
    const before = cursor === undefined ? null : (rowIn('email', box.id, cursor) ?? 0);
    const { emails, next } = await call.store.scan(quarantineCandidates, { account: box.id, before, limit });
    const release = await call.store.read(quarantineReleases, { emails });
    const items = await inBatches(emails, async (part) => {
      const known = await loadMessages(call.store, box, part, true);
      if (known === undefined) return undefined;
      await recordTaint(call, known);
      const found = [];
      for (const one of known) if (await isHeldOrWas(call, one)) found.push(itemOf(box, one, release.get(one.row.id)));
      return found;
    });
    const page = firstFitting(items, pageBudget(limit));
    const last = page.length < items.length ? page.at(-1)?.id : undefined;
    return { items: page, nextCursor: last ?? (next === null ? null : publicMessageId(next)) };
  },
});

async function isHeldOrWas(call: Call, known: LoadedMessage): Promise<boolean> {
  return known.released || isQuarantined(known, await messageText(call, known.row));
}

function stateOf({ row, released }: LoadedMessage, release: boolean): z.output<typeof Item>['state'] {
  if (row.redactedFrom !== null) return 'people_only';
  return released ? 'released' : release ? 'requested' : 'withheld';
}

function itemOf(box: Mailbox, known: LoadedMessage, release: QuarantineRelease | undefined): z.output<typeof Item> {
  const { id, threadId, from, receivedAt, trust, untrusted } = summaryOf(box, known, [], '');
  const open = release !== undefined && release.requestedAt !== null;
  return {
    id,
    threadId,
    from,
    receivedAt,
    trust,
    state: stateOf(known, open),
    requestedAt: isoOrNull(release?.requestedAt ?? null),
    untrusted: { subject: untrusted.subject, fromName: untrusted.fromName, reason: open ? release.reason : '' },
  };
}
