import { z } from 'zod';
import { jmapId, jmapRow } from '../../../mail/jmap/ids.ts';
import { suspectsOf, type Withheld, withheldOf } from '../../../mail/store/withheld.ts';
import { noteExposure } from '../../reading/exposure.ts';
import { messageText } from '../../reading/message-text.ts';
import { MsgSummary } from '../../reading/shown.ts';
import { inParts, type Known, knownMessages, summaryOf } from '../../reading/summary.ts';
import { isWithheld } from '../../reading/withheld.ts';
import { firstFitting, pageRoom } from '../../untrusted/room.ts';
import { type Call, operation } from '../operation.ts';
import { InMailbox, MessageId, namedMailbox } from '../reading/which.ts';
import { isoOrNull, nextCursor } from '../schemas.ts';
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
  title: 'List withheld messages',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'mail_read',
  untrusted: true,
  description:
    'Lists messages whose text is withheld (content_quarantined), and what was decided about them. A page may be empty and have more behind it. Changes nothing.',
  hints: { readOnly: true, idempotent: true, openWorld: true },
  input: z.strictObject({
    ...InMailbox,
    cursor: MessageId.optional(),
    limit: z.number().int().min(1).max(25).default(25),
  }),
  output: z.object({ items: z.array(Item), nextCursor }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailbox/quarantine' },
  async run(call, { mailbox, cursor, limit }) {
    const box = await namedMailbox(call, mailbox);
    const before = cursor === undefined ? null : (jmapRow('email', box.id, cursor) ?? 0);
    const { emails, next } = await call.store.scan(suspectsOf, { account: box.id, before, limit });
    const asked = await call.store.read(withheldOf, { emails });
    const items = await inParts(emails, async (part) => {
      const known = await knownMessages(call.store, box, part, true);
      if (known === undefined) return undefined;
      await noteExposure(call, known);
      const found = [];
      for (const one of known) if (await isHeldOrWas(call, one)) found.push(itemOf(box, one, asked.get(one.row.id)));
      return found;
    });
    const page = firstFitting(items, pageRoom(limit));
    const last = page.length < items.length ? page.at(-1)?.id : undefined;
    return { items: page, nextCursor: last ?? (next === null ? null : jmapId('email', next)) };
  },
});

async function isHeldOrWas(call: Call, known: Known): Promise<boolean> {
  return known.released || isWithheld(known, await messageText(call, known.row));
}

function stateOf({ row, released }: Known, asked: boolean): z.output<typeof Item>['state'] {
  if (row.veiledFrom !== null) return 'people_only';
  return released ? 'released' : asked ? 'requested' : 'withheld';
}

function itemOf(box: Mailbox, known: Known, asked: Withheld | undefined): z.output<typeof Item> {
  const { id, threadId, from, receivedAt, trust, untrusted } = summaryOf(box, known, [], '');
  const open = asked !== undefined && asked.askedAt !== null;
  return {
    id,
    threadId,
    from,
    receivedAt,
    trust,
    state: stateOf(known, open),
    requestedAt: isoOrNull(asked?.askedAt ?? null),
    untrusted: { subject: untrusted.subject, fromName: untrusted.fromName, reason: open ? asked.reason : '' },
  };
}
