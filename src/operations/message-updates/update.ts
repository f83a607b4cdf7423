import { z } from 'zod';
import { jmapId } from '../../../mail/jmap/core/ids.ts';
import { ANSWERED, FLAGGED, type NamedFlags, SEEN } from '../../../mail/store/mailbox/flags.ts';
import { LabelOrAnswered, MAX_LABELS } from '../../reading/label.ts';
import { operation } from '../../core/operation.ts';
import { InMailbox, namedFolder } from '../reading/mailbox-arguments.ts';
import { refuse } from '../../core/refusal.ts';
import { Line } from '../../core/schemas.ts';
import { changeByMailbox, changeMessages, Failed, MessageIds } from './change.ts';

const Labels = z.array(LabelOrAnswered).max(MAX_LABELS).default([]);

export const updateMessage = operation({
  name: 'update_message',
  title: 'Label, mark or move messages',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'organize',
  description:
    'Labels, marks (unread, starred) or moves up to 100 messages. Messages that do not exist are listed under failed.',
  hints: { idempotent: true },
  input: z.strictObject({
    ...InMailbox,
    messageIds: MessageIds,
    addLabels: Labels.describe('Labels to add'),
    removeLabels: Labels.describe('Labels to remove'),
    unread: z.boolean().describe('false: mark as read').optional(),
    starred: z.boolean().describe('Flagged').optional(),
    folder: Line(1, 255).describe('Move to this role, name or id').optional(),
  }),
  output: z.object({ updated: z.number(), failed: Failed }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/messages' },
  async run(call, { addLabels, removeLabels, unread, starred, folder, ...which }) {
    const add = flagsOf(addLabels, [unread === false && SEEN, starred === true && FLAGGED]);
    const remove = flagsOf(removeLabels, [unread === true && SEEN, starred === false && FLAGGED]);
    const marks = [add, remove].some(({ bits, keywords }) => bits !== 0 || keywords.length > 0);
    if (!marks && folder === undefined) {
      refuse('invalid_arguments', 'Nothing to change: give addLabels, removeLabels, unread, starred or folder.', {
        issues: [{ path: 'addLabels', message: 'no change is requested' }],
      });
    }
    const detail = {
      ...(addLabels.length > 0 && { addLabels }),
      ...(removeLabels.length > 0 && { removeLabels }),
      ...(unread !== undefined && { unread }),
      ...(starred !== undefined && { starred }),
    };
    const keywords = marks ? ({ kind: 'patch', add, remove } as const) : null;
    const { changed, failed } = await changeByMailbox(call, which, async (box, given) => {
      const into = folder === undefined ? undefined : (await namedFolder(call, box, folder)).node;
      const mailboxes = into === undefined ? null : ({ kind: 'replace', all: [into.id] } as const);
      const moved = into !== undefined && { folder: jmapId('mailbox', into.id) };
      return changeMessages(call, box, given, () => ({ keywords, mailboxes }), { ...detail, ...moved });
    });
    return { updated: changed, failed };
  },
});

function flagsOf(labels: readonly string[], bits: readonly (number | false)[]): NamedFlags {
  const answered = labels.includes('$answered') && ANSWERED;
  return {
    bits: [...bits, answered].reduce<number>((sum, bit) => sum | (bit || 0), 0),
    keywords: labels.filter((label) => label !== '$answered'),
  };
}
