import { z } from 'zod';
import { currentDraft } from '../../sending/draft-commands.ts';
import { messageText } from '../../reading/message-text.ts';
import { MsgSummary } from '../../reading/summary-schema.ts';
import { FULL_LIMITS, fewAddresses, type LoadedMessage, sourceOf, summaryOf } from '../../reading/summary.ts';
import { cutPiece } from '../../reading/text-piece.ts';
import { MAX_RESULT_CHARS, sizeOf } from '../../untrusted/result-budget.ts';
import { newNonce, Untrusted, untrusted } from '../../untrusted/untrusted.ts';
import { DRAFT_ID, publicMessageId, rowIn } from '../../core/message-ids.ts';
import type { Call } from '../../core/operation.ts';
import { Attachment, headerOf, replyToOf, shownAttachments } from '../reading/shown-message.ts';
import { wholeMessage } from '../reading/mailbox-arguments.ts';
import { refuse } from '../../core/refusal.ts';
import type { Mailbox } from '../scope.ts';
import { asMailbox } from '../sending/as-sender.ts';
import { PolicyPreview, previewDraft } from './draft-preview.ts';

/** Characters of JSON around the text of a draft. */
const ROUND_TEXT = 1_000;

/** A former id of a draft; it resolves to the current version. */
const DraftForm = z.string().regex(DRAFT_ID, 'must look like m12_1a, as list_drafts shows it');
export const DraftId = DraftForm.describe('Draft id');
export const Revision = DraftForm.describe('As last read');

/** A draft. It may quote outsiders, so its text is marked as untrusted. */
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

/** The current version of a draft. */
export async function namedDraft(call: Call, box: Mailbox, draftId: string): Promise<LoadedMessage> {
  const named = rowIn('email', box.id, draftId) ?? 0;
  const email = await call.store.read(currentDraft, { account: box.id, email: named });
  return email === undefined ? goneDraft() : wholeMessage(call, box, email);
}

function goneDraft(): never {
  return refuse('not_found', 'No such draft, or it was sent or deleted: see list_drafts.', {
    resource: 'draft',
  });
}

/** Refuses a caller that has not read the current version. */
export function checkRevision(box: Mailbox, { row }: LoadedMessage, revision: string): void {
  if (rowIn('email', box.id, revision) === row.id) return;
  const now = publicMessageId(row.id);
  refuse('conflict', `The draft was changed since: read it with get_draft, it is at revision ${now}.`, {
    resource: 'draft',
    revision: now,
  });
}

/** Returns the facts of a draft without its body. */
export async function shownDraft(
  call: Call,
  box: Mailbox,
  { id, known, maxChars }: { id: string; known: LoadedMessage; maxChars: number },
): Promise<z.output<typeof ShownDraft>> {
  const { row, envelope } = known;
  const { parts, shown } = shownAttachments(row);
  const { own, quoted, removed, cut, divergent } = await messageText(call, row);
  const summary = summaryOf(box, known, parts, '', FULL_LIMITS);
  const bcc = fewAddresses(envelope.bcc, FULL_LIMITS.addresses);
  const facts = {
    ...summary,
    ...(bcc.more > 0 && { moreRecipients: (summary.moreRecipients ?? 0) + bcc.more }),
    id,
    revision: publicMessageId(row.id),
    bcc: bcc.shown,
    replyTo: replyToOf(await headerOf(call, row)),
    ...shown,
    policyPreview: await previewDraft(call, asMailbox(call, box), row),
  };
  const wire = Math.min(2 * maxChars, MAX_RESULT_CHARS - ROUND_TEXT - sizeOf(facts));
  const { text, end } = cutPiece(own, 0, { chars: maxChars, wire });
  return {
    ...facts,
    body:
      divergent || row.redactedFrom !== null || maxChars === 0
        ? null
        : untrusted(newNonce(), sourceOf(known), text, removed),
    quotedChars: quoted.length,
    truncated: cut || own.length > end,
  };
}
