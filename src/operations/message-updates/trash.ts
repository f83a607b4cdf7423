import { z } from 'zod';
import { DRAFT } from '../../../mail/store/mailbox/flags.ts';
import { formerMailboxes } from '../../../mail/store/mailbox/former-mailboxes.ts';
import type { MailboxNode } from '../../../mail/store/mailbox/mailbox-tree.ts';
import { loadMessages } from '../../reading/summary.ts';
import { type Call, operation } from '../../core/operation.ts';
import { InMailbox, namedFolder } from '../reading/mailbox-arguments.ts';
import type { Mailbox } from '../scope.ts';
import { changeByMailbox, changeMessages, Failed, type RequestedMessages, MessageIds } from './change.ts';

const input = z.strictObject({ ...InMailbox, messageIds: MessageIds });
const output = z.object({ moved: z.number(), failed: Failed });

export const trashMessage = operation({
  name: 'trash_message',
  title: 'Move messages to the trash',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'organize',
  description: 'Moves messages to the trash; restore_message undoes it. Nothing is deleted permanently.',
  hints: { destructive: true, idempotent: true },
  input,
  output,
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/trash' },
  async run(call, which) {
    const { changed, failed } = await changeByMailbox(call, which, async (box, given) => {
      const { node } = await namedFolder(call, box, 'trash');
      const mailboxes = { kind: 'replace', all: [node.id] } as const;
      return changeMessages(call, box, given, () => ({ keywords: null, mailboxes }));
    });
    return { moved: changed, failed };
  },
});

export const restoreMessage = operation({
  name: 'restore_message',
  title: 'Restore messages from the trash',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'organize',
  description:
    'Moves messages from the trash back to their former folders, whoever trashed them; after 30 days to the inbox, drafts to Drafts.',
  hints: { idempotent: true },
  input,
  output,
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailbox/restore' },
  async run(call, which) {
    const { changed, failed } = await changeByMailbox(call, which, async (box, given) => {
      const folders = await foldersFor(call, box, given);
      return changeMessages(call, box, given, (email) => {
        const all = folders.get(email);
        return all === undefined ? 'not_in_trash' : { keywords: null, mailboxes: { kind: 'replace', all } };
      });
    });
    return { moved: changed, failed };
  },
});

/** Returns the folders to restore messages to. Includes messages that do not exist, which the change reports. */
async function foldersFor(call: Call, box: Mailbox, given: RequestedMessages): Promise<Map<number, number[]>> {
  const emails = given.flatMap(({ email }) => email ?? []);
  const { node: trash, nodes } = await namedFolder(call, box, 'trash');
  const [known = [], former] = await Promise.all([
    loadMessages(call.store, box, emails),
    call.store.read(formerMailboxes, { account: box.id, emails }),
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

/** Every account has an inbox. */
function withRole(nodes: readonly MailboxNode[], role: 'drafts' | 'inbox'): MailboxNode {
  const found = nodes.find((one) => one.role === role) ?? nodes.find((one) => one.role === 'inbox');
  if (found === undefined) throw new Error('an account without an inbox');
  return found;
}
