import { z } from 'zod';
import { jmapRow } from '../../../mail/jmap/ids.ts';
import { guardOf, KEY_MS } from '../../sending/guard.ts';
import { SendResult } from '../../sending/send-answer.ts';
import { sendOnce, timeOf } from '../../sending/send-email.ts';
import { operation } from '../operation.ts';
import { InMailbox, namedMailbox } from '../reading/which.ts';
import { asMailbox, audited } from '../sending/as-sender.ts';
import { draftOutbound } from './draft-preview.ts';
import { checkRevision, DraftId, namedDraft, Revision } from './draft-shown.ts';
import { SENDING_FIELDS } from './fields.ts';
import { addressOf } from './reply.ts';

const { attachments: _files, allowDuplicate: _again, ...HOW } = SENDING_FIELDS;

export const sendDraft = operation({
  name: 'send_draft',
  title: 'Send a draft',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'send',
  description:
    'Sends a draft as it was read at this revision, once: it leaves Drafts, and a copy stands in Sent. A draft that anybody changed since is a conflict. No undo.',
  hints: { destructive: true, openWorld: true },
  input: z.strictObject({ ...InMailbox, draftId: DraftId, revision: Revision, ...HOW }),
  output: SendResult,
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/drafts/:draftId/send' },
  async run(call, { mailbox, draftId, revision, sendAt: asked, dryRun, failIfApprovalNeeded: failIfHeld, ...more }) {
    const box = await namedMailbox(call, mailbox);
    const sender = asMailbox(call, box);
    const draft = jmapRow('email', box.id, draftId) ?? 0;
    const guard = guardOf(sender, more, { draft, revision, sendAt: asked });
    // A revision is sent once, so what looks the same is the same for as long as a key is.
    const exact = guard && { ...guard, forMs: KEY_MS };
    const place = { from: addressOf(box), threadId: null };
    return sendOnce(call, sender, { guard: exact, place, commit: audited(call) }, async () => {
      const known = await namedDraft(call, box, draftId);
      checkRevision(known, revision);
      const sendAt = timeOf({ sendAt: asked }, call.clock());
      return draftOutbound(call, sender, known.row, { sendAt, dryRun, failIfHeld });
    });
  },
});
