import { z } from 'zod';
import { jmapId } from '../../../mail/jmap/ids.ts';
import { ANSWERED, FLAGGED, type FlagSet, SEEN } from '../../../mail/store/flags.ts';
import { Mark, MOST_LABELS } from '../../reading/label.ts';
import { operation } from '../operation.ts';
import { InMailbox, namedFolder } from '../reading/which.ts';
import { refuse } from '../refusal.ts';
import { Line } from '../schemas.ts';
import { changeMessages, Failed, MessageIds, namedMessages } from './change.ts';

const Labels = z.array(Mark).max(MOST_LABELS).default([]);

export const updateMessage = operation({
  name: 'update_message',
  title: 'Label, mark or move messages',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Labels, marks (unread, starred) or moves up to 100 messages; folder: role, name or id. What is not there is named under failed.',
  hints: { idempotent: true },
  input: z.strictObject({
    ...InMailbox,
    messageIds: MessageIds,
    addLabels: Labels,
    removeLabels: Labels,
    unread: z.boolean().optional(),
    starred: z.boolean().optional(),
    folder: Line(1, 255).optional(),
  }),
  output: z.object({ updated: z.number(), failed: Failed }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/messages' },
  async run(call, { addLabels, removeLabels, unread, starred, folder, ...which }) {
    const { box, given } = await namedMessages(call, which);
    const add = flagsOf(addLabels, [unread === false && SEEN, starred === true && FLAGGED]);
    const remove = flagsOf(removeLabels, [unread === true && SEEN, starred === false && FLAGGED]);
    const marks = [add, remove].some(({ bits, keywords }) => bits !== 0 || keywords.length > 0);
    if (!marks && folder === undefined) {
      refuse('invalid_arguments', 'Say what to change: addLabels, removeLabels, unread, starred or folder.', {
        issues: [{ path: 'addLabels', message: 'nothing is asked for' }],
      });
    }
    const into = folder === undefined ? undefined : (await namedFolder(call, box, folder)).node;
    const { changed, failed } = await changeMessages(
      call,
      box,
      given,
      () => ({
        keywords: marks ? { kind: 'patch', add, remove } : null,
        mailboxes: into === undefined ? null : { kind: 'replace', all: [into.id] },
      }),
      {
        ...(addLabels.length > 0 && { addLabels }),
        ...(removeLabels.length > 0 && { removeLabels }),
        ...(unread !== undefined && { unread }),
        ...(starred !== undefined && { starred }),
        ...(into !== undefined && { folder: jmapId('mailbox', into.id) }),
      },
    );
    return { updated: changed, failed };
  },
});

function flagsOf(labels: readonly string[], bits: readonly (number | false)[]): FlagSet {
  const answered = labels.includes('$answered') && ANSWERED;
  return {
    bits: [...bits, answered].reduce<number>((sum, bit) => sum | (bit || 0), 0),
    keywords: labels.filter((label) => label !== '$answered'),
  };
}
