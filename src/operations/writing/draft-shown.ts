import { z } from 'zod';
import { jmapId, jmapRow } from '../../../mail/jmap/ids.ts';
import { draftForm } from '../../sending/draft-queries.ts';
import { messageText } from '../../reading/message-text.ts';
import { MsgSummary } from '../../reading/shown.ts';
import { ALONE, fewAddresses, type Known, sourceOf, summaryOf } from '../../reading/summary.ts';
import { pieceOf } from '../../reading/piece.ts';
import { MOST_RESULT, sizeOf } from '../../untrusted/room.ts';
import { newNonce, Untrusted, untrusted } from '../../untrusted/untrusted.ts';
import type { Call } from '../operation.ts';
import { Attachment, headerOf, replyToOf, shownAttachments } from '../reading/shown-message.ts';
import { wholeMessage } from '../reading/which.ts';
import { refuse } from '../refusal.ts';
import type { Mailbox } from '../scope.ts';
import { asMailbox } from '../sending/as-sender.ts';
import { PolicyPreview, previewOf } from './draft-preview.ts';

/** Characters of JSON around the text of a draft. */
const ROUND_TEXT = 1_000;

/** An id that a draft had once; it leads to what the draft is now. */
export const DraftId = z.string().regex(/^m[1-9a-z][0-9a-z]{0,9}$/, 'looks like m1a, as list_drafts gives it');
export const Revision = DraftId.describe('as the draft was read');

/** A draft. It may quote strangers, so its words are marked as theirs are. */
export const ShownDraft = MsgSummary.extend({
  revision: z.string().describe('another one once anybody changed it'),
  bcc: z.array(z.object({ address: z.string() })),
  replyTo: z.array(z.object({ address: z.string() })),
  attachments: z.array(Attachment),
  moreAttachments: z.number().optional(),
  body: Untrusted.nullable(),
  quotedChars: z.number(),
  truncated: z.boolean(),
  policyPreview: PolicyPreview,
});

/** The present form of a draft. */
export async function namedDraft(call: Call, box: Mailbox, draftId: string): Promise<Known> {
  const named = jmapRow('email', box.id, draftId) ?? 0;
  const email = await call.store.read(draftForm, { account: box.id, email: named });
  return email === undefined ? goneDraft() : wholeMessage(call, box, email);
}

function goneDraft(): never {
  return refuse(
    'not_found',
    'There is no such draft, or it was sent or removed: list_drafts has those that are there.',
    {
      resource: 'draft',
    },
  );
}

/** Refuses who did not see what the draft is now. */
export function checkRevision({ row }: Known, revision: string): void {
  const now = jmapId('email', row.id);
  if (now === revision) return;
  refuse('conflict', `The draft was changed since: read it with get_draft, it is at revision ${now}.`, {
    resource: 'draft',
    revision: now,
  });
}

/** What everybody is shown of a draft; no character of its body: none is wanted. */
export async function shownDraft(
  call: Call,
  box: Mailbox,
  { id, known, maxChars }: { id: string; known: Known; maxChars: number },
): Promise<z.output<typeof ShownDraft>> {
  const { row, envelope } = known;
  const { parts, shown } = shownAttachments(row);
  const { own, quoted, removed, cut, divergent } = await messageText(call, row);
  const summary = summaryOf(box, known, parts, '', ALONE);
  const bcc = fewAddresses(envelope.bcc, ALONE.addresses);
  const facts = {
    ...summary,
    ...(bcc.more > 0 && { moreRecipients: (summary.moreRecipients ?? 0) + bcc.more }),
    id,
    revision: jmapId('email', row.id),
    bcc: bcc.shown,
    replyTo: replyToOf(await headerOf(call, row)),
    ...shown,
    policyPreview: await previewOf(call, asMailbox(call, box), row),
  };
  const wire = Math.min(2 * maxChars, MOST_RESULT - ROUND_TEXT - sizeOf(facts));
  const { text, end } = pieceOf(own, 0, { chars: maxChars, wire });
  return {
    ...facts,
    body:
      divergent || row.veiledFrom !== null || maxChars === 0
        ? null
        : untrusted(newNonce(), sourceOf(known), text, removed),
    quotedChars: quoted.length,
    truncated: cut || own.length > end,
  };
}
