import { z } from 'zod';
import { DRAFT } from '../../../mail/store/flags.ts';
import { formerPlaces } from '../../../mail/store/former-places.ts';
import type { MailboxNode } from '../../../mail/store/mailbox-tree.ts';
import { knownMessages } from '../../reading/summary.ts';
import { type Call, operation } from '../operation.ts';
import { InMailbox, namedFolder } from '../reading/which.ts';
import type { Mailbox } from '../scope.ts';
import { changeMessages, Failed, type Given, MessageIds, namedMessages } from './change.ts';

const input = z.strictObject({ ...InMailbox, messageIds: MessageIds });
const output = z.object({ moved: z.number(), failed: Failed });

export const trashMessage = operation({
  name: 'trash_message',
  title: 'Put messages into the trash',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  description: 'Moves messages into the trash; restore_message puts them back. Nothing here deletes for good.',
  hints: { destructive: true, idempotent: true },
  input,
  output,
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/trash' },
  async run(call, which) {
    const { box, given } = await namedMessages(call, which);
    const { node } = await namedFolder(call, box, 'trash');
    const { changed, failed } = await changeMessages(call, box, given, () => ({
      keywords: null,
      mailboxes: { kind: 'replace', all: [node.id] },
    }));
    return { moved: changed, failed };
  },
});

export const restoreMessage = operation({
  name: 'restore_message',
  title: 'Take messages out of the trash',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Moves messages from the trash back to where they were, whoever trashed them; after 30 days into the inbox, drafts into Drafts.',
  hints: { idempotent: true },
  input,
  output,
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/restore' },
  async run(call, which) {
    const { box, given } = await namedMessages(call, which);
    const places = await placesFor(call, box, given);
    const { changed, failed } = await changeMessages(call, box, given, (email) => {
      const all = places.get(email);
      return all === undefined ? 'not_in_trash' : { keywords: null, mailboxes: { kind: 'replace', all } };
    });
    return { moved: changed, failed };
  },
});

/** Where messages of the trash belong. Those that do not exist are among them: the change says so. */
async function placesFor(call: Call, box: Mailbox, given: Given): Promise<Map<number, number[]>> {
  const emails = given.flatMap(({ email }) => email ?? []);
  const { node: trash, nodes } = await namedFolder(call, box, 'trash');
  const [known = [], former] = await Promise.all([
    knownMessages(call.store, box, emails),
    call.store.read(formerPlaces, { account: box.id, emails }),
  ]);
  const rows = new Map(known.map(({ row }) => [row.id, row]));
  return new Map(
    emails.flatMap((email): [number, number[]][] => {
      const row = rows.get(email);
      if (row !== undefined && !row.mailboxes.includes(trash.id)) return [];
      const elsewhere = row?.mailboxes.filter((one) => one !== trash.id) ?? [];
      if (elsewhere.length > 0) return [[email, elsewhere]];
      const role = row !== undefined && (row.flags & DRAFT) !== 0 ? 'drafts' : 'inbox';
      return [[email, former.get(email)?.mailboxes ?? [withRole(nodes, role).id]]];
    }),
  );
}

/** The inbox is always there. */
function withRole(nodes: readonly MailboxNode[], role: 'drafts' | 'inbox'): MailboxNode {
  const found = nodes.find((one) => one.role === role) ?? nodes.find((one) => one.role === 'inbox');
  if (found === undefined) throw new Error('an account without an inbox');
  return found;
}
