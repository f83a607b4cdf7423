import type { listDeleted } from '../../operations/retention/deleted-messages.ts';
import { address, bytes, cursorOf, emptyState, nextPage, quotedText, table, timestamp } from '../components.ts';
import { html } from '../html.ts';
import { actionButton, confirmedAction, operationAction } from '../page.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import { translatorOf } from '../translator.ts';
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
  translated: true,
  notices: { restored: { message: 'deleted.restored' }, purged: { message: 'deleted.gone' } },
  actions: {
    restore: operationAction('restore_deleted_messages', 'restored', (fields, params) => ({
      mailboxId: params['id'],
      messageIds: [fields.text('messageId')],
    })),
    purge: operationAction('purge_deleted_messages', 'purged', (_fields, params) => ({ mailboxId: params['id'] })),
  },
  async show(visit, { params, query }) {
    const mailboxId = params['id'] ?? '';
    const drafts = query['drafts'] === '1';
    const page = { mailboxId, drafts, ...cursorOf(query) };
    const listed = await readOperation<typeof listDeleted>(visit, 'list_deleted_messages', page);
    if (listed === undefined) return undefined;
    const path = `${visit.base}/mailboxes/${mailboxId}/deleted`;
    const t = translatorOf(visit.request);
    const rows = listed.messages as unknown as DeletedLine[];
    return html`<section>
      <h2>${t('deleted.messages')}</h2>
      <p>${t('deleted.messages-about')}</p>
      <p>
        ${
          drafts
            ? html`${t('deleted.drafts-shown')} <a href="${path}">${t('deleted.hide')}</a>`
            : html`${t('deleted.drafts-hidden')} <a href="${path}?drafts=1">${t('deleted.show')}</a>`
        }
      </p>
      ${
        rows.length === 0
          ? emptyState(t('deleted.none'), t('deleted.none-text'))
          : table(
              t('deleted.messages'),
              [
                t('approval.from'),
                t('approval.subject'),
                t('deleted.folder'),
                t('mailboxes.size'),
                t('deleted.deleted'),
                '',
              ],
              rows.map((one) => [
                quotedText(address(one.from)),
                quotedText(one.subject),
                one.folder,
                bytes(one.size, t),
                timestamp(one.deletedAt, t),
                isAllowed(visit, 'restore_deleted_messages') &&
                  actionButton(visit, 'restore', t('deleted.restore'), { messageId: one.messageId }),
              ]),
              t,
            )
      }
      ${nextPage(drafts ? `${path}?drafts=1` : path, listed.nextCursor, t)}
      ${
        rows.length > 0 &&
        isAllowed(visit, 'purge_deleted_messages') &&
        confirmedAction(visit, 'purge', {
          label: t('deleted.purge-all'),
          question: t('deleted.purge-all-question'),
          yes: t('deleted.purge'),
        })
      }
    </section>`;
  },
});
