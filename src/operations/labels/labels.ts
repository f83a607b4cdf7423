import { z } from 'zod';
import { countLabels, addLabel, removeLabel, MAX_LABELS } from '../../../mail/store/mailbox/label.ts';
import { publicMessageId } from '../../core/message-ids.ts';
import { publicId } from '../../core/ids.ts';
import { Label } from '../../reading/label.ts';
import { changeMessages } from '../message-updates/change.ts';
import { type Call, operation } from '../../core/operation.ts';
import { newestMessages } from '../reading/message-page.ts';
import { InMailbox, namedMailbox } from '../reading/mailbox-arguments.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import type { Mailbox } from '../scope.ts';

/** Maximum messages from which one call removes a label. */
const MAX_TAKEN_OFF = 2_000;
/** Maximum labels per answer. */
const MAX_SHOWN = 1_000;

const Labels = z.array(z.object({ name: z.string(), messages: z.number() }));

export const listLabels = operation({
  name: 'list_labels',
  title: 'List labels',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'mail_read',
  description:
    'Lists the labels of a mailbox (keywords or tags in mail programs) with the number of messages. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(InMailbox),
  output: z.object({ labels: Labels }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailbox/labels' },
  async run(call, { mailbox }) {
    return { labels: await labelsOf(call, await namedMailbox(call, mailbox)) };
  },
});

export const createLabel = operation({
  name: 'create_label',
  title: 'Create a label',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'organize',
  description:
    'Creates a label that stays when no message has it: one lower-case word, a keyword in mail programs. update_message sets it on messages.',
  hints: { idempotent: true },
  input: z.strictObject({ ...InMailbox, name: Label.describe('Label') }),
  output: z.object({ labels: Labels }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/labels', status: 201 },
  async run(call, { mailbox, name }) {
    const box = await namedMailbox(call, mailbox);
    const target = publicId('mailbox', box.id);
    const { kind } = await call.change(addLabel, { account: box.id, name }, target, { label: name });
    if (kind === 'too-many') {
      refuse('conflict', `Limit reached: this mailbox has ${MAX_LABELS} labels. Delete some first.`, {
        resource: 'label',
      });
    }
    return { labels: await labelsOf(call, box) };
  },
});

export const deleteLabel = operation({
  name: 'delete_label',
  title: 'Delete a label',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  description: 'Removes a label from all messages of a mailbox and deletes it. The messages stay.',
  hints: { destructive: true, idempotent: true },
  input: z.strictObject({ ...InMailbox, name: Label.describe('Label') }),
  output: z.object({ deleted: z.literal(true), messages: z.number() }),
  rest: { method: 'DELETE', path: '/api/email/mailboxes/:mailbox/labels/:name' },
  async run(call, { mailbox, name }) {
    const box = await namedMailbox(call, mailbox);
    // One more than the limit.
    const emails = await newestMessages(call, box.id, { test: 'keyword', keyword: name }, MAX_TAKEN_OFF + 1);
    if (emails.length > MAX_TAKEN_OFF) {
      refuse('conflict', `More than ${MAX_TAKEN_OFF} messages have this label: remove it with update_message first.`, {
        resource: 'label',
      });
    }
    const keywords = {
      kind: 'patch',
      add: { bits: 0, keywords: [] },
      remove: { bits: 0, keywords: [name] },
    } as const;
    const given = emails.map((email) => ({ id: publicMessageId(email), email }));
    const detail = { removeLabels: [name] };
    if (given.length > 0) await changeMessages(call, box, given, () => ({ keywords, mailboxes: null }), detail);
    // Last: after an interruption the label is still listed and can be deleted again.
    const input = { account: box.id, name };
    const { kind } = await call.change(removeLabel, input, publicId('mailbox', box.id), { label: name });
    if (kind === 'missing' && given.length === 0) notFound('label');
    return { deleted: true as const, messages: given.length };
  },
});

/** Excludes keywords of programs (`$mdnsent`). */
async function labelsOf({ store }: Call, { id: account }: Mailbox): Promise<z.output<typeof Labels>> {
  const all = await store.scan(countLabels, { account });
  return all
    .filter(({ name }) => Label.safeParse(name).success)
    .slice(0, MAX_SHOWN)
    .map(({ name, messages }) => ({ name, messages }));
}
