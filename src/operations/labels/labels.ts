import { z } from 'zod';
import { jmapId } from '../../../mail/jmap/ids.ts';
import { countLabels, forgetLabel, makeLabel, MOST_MADE_LABELS } from '../../../mail/store/label.ts';
import { publicId } from '../../ids.ts';
import { Label } from '../../reading/label.ts';
import { changeMessages } from '../changing/change.ts';
import { type Call, operation } from '../operation.ts';
import { newestMessages } from '../reading/found.ts';
import { InMailbox, namedMailbox } from '../reading/which.ts';
import { notFound, refuse } from '../refusal.ts';
import type { Mailbox } from '../scope.ts';

/** Messages from which one call takes a label off. */
const MOST_TAKEN_OFF = 2_000;
/** Of one answer. */
const MOST_SHOWN = 1_000;

const Labels = z.array(z.object({ name: z.string(), messages: z.number() }));

export const listLabels = operation({
  name: 'list_labels',
  title: 'List labels',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'mail_read',
  description:
    'Lists the labels of a mailbox with how many messages have each: keywords or tags in mail programs. Changes nothing.',
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
  title: 'Make a label',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Makes a label that stays when no message has it: one word in lower case, a keyword in mail programs. update_message puts labels on messages.',
  hints: { idempotent: true },
  input: z.strictObject({ ...InMailbox, name: Label }),
  output: z.object({ labels: Labels }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/labels', status: 201 },
  async run(call, { mailbox, name }) {
    const box = await namedMailbox(call, mailbox);
    const target = publicId('mailbox', box.id);
    const { kind } = await call.change(makeLabel, { account: box.id, name }, target, { label: name });
    if (kind === 'too-many') {
      refuse('conflict', `This mailbox has ${MOST_MADE_LABELS} labels, as many as it may: delete some.`, {
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
  description: 'Takes a label off all messages of a mailbox and forgets it. The messages stay.',
  hints: { destructive: true, idempotent: true },
  input: z.strictObject({ ...InMailbox, name: Label }),
  output: z.object({ deleted: z.literal(true), messages: z.number() }),
  rest: { method: 'DELETE', path: '/api/email/mailboxes/:mailbox/labels/:name' },
  async run(call, { mailbox, name }) {
    const box = await namedMailbox(call, mailbox);
    // One more than are taken.
    const emails = await newestMessages(call, box.id, { test: 'keyword', keyword: name }, MOST_TAKEN_OFF + 1);
    if (emails.length > MOST_TAKEN_OFF) {
      refuse('conflict', `More than ${MOST_TAKEN_OFF} messages have this label: take it off by update_message first.`, {
        resource: 'label',
      });
    }
    const keywords = {
      kind: 'patch',
      add: { bits: 0, keywords: [] },
      remove: { bits: 0, keywords: [name] },
    } as const;
    const given = emails.map((email) => ({ id: jmapId('email', email), email }));
    const detail = { removeLabels: [name] };
    if (given.length > 0) await changeMessages(call, box, given, () => ({ keywords, mailboxes: null }), detail);
    // Last: what is broken off before is seen as a label still, and deleted again.
    const input = { account: box.id, name };
    const { kind } = await call.change(forgetLabel, input, publicId('mailbox', box.id), { label: name });
    if (kind === 'missing' && given.length === 0) notFound('label');
    return { deleted: true as const, messages: given.length };
  },
});

/** Names of programs (`$mdnsent`) are no labels. */
async function labelsOf({ store }: Call, { id: account }: Mailbox): Promise<z.output<typeof Labels>> {
  const all = await store.scan(countLabels, { account });
  return all
    .filter(({ name }) => Label.safeParse(name).success)
    .slice(0, MOST_SHOWN)
    .map(({ name, messages }) => ({ name, messages }));
}
