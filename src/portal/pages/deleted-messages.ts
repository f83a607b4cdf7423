import type { listDeleted } from '../../operations/retention/deleted-messages.ts';
import { bytes, emptyState, quotedText, table, timestamp } from '../components.ts';
import { html } from '../html.ts';
import { actionButton, confirmedAction, operationAction } from '../page.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import { isAllowed, readOperation } from '../visit.ts';

interface DeletedLine {
  messageId: string;
  folder: string;
  subject: string;
  from: string;
  size: number;
  deletedAt: string;
}

export const deletedMessages = mailboxPage('deleted', {
  notices: { restored: 'Message restored to its folder.', purged: 'Deleted messages are gone permanently.' },
  actions: {
    restore: operationAction('restore_deleted_messages', 'restored', (fields, params) => ({
      mailboxId: params['id'],
      messageIds: [fields.text('messageId')],
    })),
    purge: operationAction('purge_deleted_messages', 'purged', (_fields, params) => ({ mailboxId: params['id'] })),
  },
  async show(visit, { params }) {
    const mailboxId = params['id'] ?? '';
    const listed = await readOperation<typeof listDeleted>(visit, 'list_deleted_messages', { mailboxId });
    if (listed === undefined) return undefined;
    const rows = listed.messages as unknown as DeletedLine[];
    return html`<section>
      <h2>Deleted messages</h2>
      <p>They left all folders and can be restored until they are purged.</p>
      ${
        rows.length === 0
          ? emptyState('No deleted messages', 'Messages that leave all folders are listed here.')
          : table(
              'Deleted messages',
              ['From', 'Subject', 'Folder', 'Size', 'Deleted', ''],
              rows.map((one) => [
                quotedText(one.from),
                quotedText(one.subject),
                one.folder,
                bytes(one.size),
                timestamp(one.deletedAt),
                isAllowed(visit, 'restore_deleted_messages') &&
                  actionButton(visit, 'restore', 'Restore', { messageId: one.messageId }),
              ]),
            )
      }
      ${
        rows.length > 0 &&
        isAllowed(visit, 'purge_deleted_messages') &&
        confirmedAction(visit, 'purge', {
          label: 'Delete all permanently',
          question: 'Deletes all of them at once. This cannot be undone.',
          yes: 'Delete permanently',
        })
      }
    </section>`;
  },
});
