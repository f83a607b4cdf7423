import { z } from 'zod';
import { ACCESS_RIGHTS, accessOf, grantMailbox, grantsOfAccount } from '../../../mail/store/mailbox/acl.ts';
import { publicId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Line } from '../../core/schemas.ts';
import { namedFolder } from '../reading/mailbox-arguments.ts';
import { mailboxOf } from '../scope.ts';
import { MailboxArguments } from './shown.ts';

const Share = z.object({ folder: z.string(), withAddress: z.string(), access: z.string(), rights: z.string() });

export const shareFolder = operation({
  name: 'share_folder',
  title: 'Share a folder',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Shares a folder of a mailbox with another mailbox of the organization, for people who read it by IMAP below "Other Users/"; none ends it at once. Agents do not see shared folders.',
  hints: { idempotent: true },
  peopleOnly: true,
  input: z.strictObject({
    ...MailboxArguments,
    folder: Line(1, 255).default('inbox').describe('Role (inbox, sent, ...), name or id'),
    withAddress: Line(1, 320).describe('Address of the other mailbox'),
    access: z.enum(['none', 'read', 'write']).default('read').describe('write: also flag, add, move and delete'),
  }),
  output: z.object({ shares: z.array(Share) }),
  rest: { method: 'PUT', path: '/api/email/mailboxes/:mailboxId/shares' },
  async run(call, { folder, withAddress, access, ...which }) {
    const box = await mailboxOf(call, which);
    const { node } = await namedFolder(call, box, folder);
    // Finds the other mailbox within the organization and the limits of the token.
    const { id: other, address } = await mailboxOf(call, { address: withAddress });
    if (other !== box.id) {
      const input = { account: box.id, mailbox: node.id, address, how: 'set' as const, rights: ACCESS_RIGHTS[access] };
      const { kind } = await call.change(grantMailbox, input, publicId('mailbox', box.id), {
        folder: node.name,
        with: address,
        access,
      });
      if (kind !== 'set') refuseShare(kind);
    }
    return { shares: await sharesOf(call, box.id) };
  },
});

function refuseShare(kind: 'unknown-address' | 'missing' | 'too-many' | 'not-allowed'): never {
  if (kind === 'missing') return notFound('folder');
  if (kind === 'too-many')
    return refuse('conflict', 'Limit reached: too many shares of this folder or with this mailbox. End some first.', {
      resource: 'share',
    });
  return refuse('conflict', 'The other mailbox is frozen: unfreeze it, or share with another one.', {
    resource: 'mailbox',
  });
}

export const listFolderShares = operation({
  name: 'list_folder_shares',
  title: 'List shared folders',
  toolset: 'email',
  reach: 'mailbox',
  action: 'read',
  peopleOnly: true,
  description: 'Lists the folders of a mailbox that are shared, with whom and for what. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(MailboxArguments),
  output: z.object({ shares: z.array(Share) }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailboxId/shares' },
  async run(call, which) {
    const { id } = await mailboxOf(call, which);
    return { shares: await sharesOf(call, id) };
  },
});

async function sharesOf(call: Call, account: number): Promise<z.output<typeof Share>[]> {
  const rows = await call.store.read(grantsOfAccount, { account });
  return rows.map(({ folder, address: withAddress, rights }) => ({
    folder,
    withAddress,
    access: accessOf(rights),
    rights,
  }));
}
