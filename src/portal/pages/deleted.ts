import type { listDeletedEmails, restoreEmail } from '../../operations/mailboxes/restore.ts';
import type { listDeletedServices, restoreServiceOf } from '../../operations/services/deletion.ts';
import { address, bytes, dateOnly, table } from '../components.ts';
import { field } from '../forms.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import {
  actionButton,
  confirmedAction,
  formStateFor,
  operationAction,
  type PageAction,
  type PageState,
} from '../page.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { isAllowed, type OutputOf, readOperation, type Visit } from '../visit.ts';

/** Actions on the list of deleted mailboxes. */
export const DELETED_MAILBOX_ACTIONS: Readonly<Record<string, PageAction>> = {
  restore: operationAction(
    'restore_email',
    (result, visit) => {
      const { mailbox, notRestored, nextSteps } = result as OutputOf<typeof restoreEmail>;
      const link = html`<a href="${visit.base}/mailboxes/${mailbox.id}">${mailbox.address}</a>`;
      const t = translatorOf(visit.request);
      return {
        kind: 'shown',
        panel: restored(
          t,
          link,
          notRestored,
          nextSteps.map((step) => t.english(step)),
        ),
      };
    },
    ['mailboxId'],
  ),
  purge: operationAction('delete_email', 'purged', (fields) => ({
    mailboxId: fields.text('mailboxId'),
    confirm: fields.text('confirm').trim(),
    permanently: true,
  })),
};

/** Actions on the list of deleted services. */
export const DELETED_SERVICE_ACTIONS: Readonly<Record<string, PageAction>> = {
  restore: operationAction(
    'restore_service',
    (result, visit) => {
      const { service, notRestored, detail } = result as OutputOf<typeof restoreServiceOf>;
      const link = html`<a href="${visit.base}/services/${service.id}">${service.name}</a>`;
      const t = translatorOf(visit.request);
      const steps = [t.english(detail), t('service.tokens-revoked')];
      return { kind: 'shown', panel: restored(t, link, notRestored, steps) };
    },
    ['serviceId'],
  ),
  purge: operationAction('delete_service', 'purged', (fields) => ({
    serviceId: fields.text('serviceId'),
    permanently: true,
  })),
};

/** Result of a restoration, with the next steps. The operation names in English the things that it could not restore. */
function restored(t: Translator, name: Html, lost: readonly string[], steps: readonly HtmlPart[]): Html {
  const list = t.english(lost.join(', '));
  return html`<div class="note" role="status">
    <p>${t.rich('deleted.is-restored', { name })}</p>
    ${lost.length > 0 && html`<p>${t.rich('deleted.not-restored', { list })}</p>`}
    <ul>
      ${steps.map((step) => html`<li>${step}</li>`)}
    </ul>
  </div>`;
}

/** Deleted mailboxes with the date on which each is purged; nothing without any. */
export async function deletedMailboxTable(visit: Visit, state: PageState): Promise<HtmlPart> {
  const listed = await readOperation<typeof listDeletedEmails>(visit, 'list_deleted_emails', { limit: 100 });
  if (listed === undefined || listed.deletedMailboxes.length === 0) return undefined;
  const t = translatorOf(visit.request);
  const rows = listed.deletedMailboxes.map((one) => [
    address(one.address),
    bytes(one.usedBytes, t),
    dateOnly(one.deletedAt, t),
    dateOnly(one.restorableUntil, t),
    [
      isAllowed(visit, 'restore_email') &&
        actionButton(visit, 'restore', t('deleted.restore'), { mailboxId: one.id }, ''),
      isAllowed(visit, 'delete_email') &&
        confirmedAction(visit, 'purge', {
          label: t('deleted.purge'),
          question: t('deleted.purge-question', { address: one.address }),
          yes: t('deleted.purge'),
          values: { mailboxId: one.id },
          body: field(
            { name: 'confirm', label: t('deleted.confirm'), autocomplete: 'off', id: `confirm-${one.id}` },
            formStateFor(state, 'purge'),
          ),
        }),
    ],
  ]);
  const headings = [t('devices.address'), t('mailboxes.size'), t('deleted.deleted'), t('deleted.purged-on'), ''];
  return section(t, table(t('deleted.mailboxes'), headings, rows, t));
}

/** Deleted services with the date on which each is purged; nothing without any. */
export async function deletedServices(visit: Visit): Promise<HtmlPart> {
  const listed = await readOperation<typeof listDeletedServices>(visit, 'list_deleted_services', { limit: 100 });
  if (listed === undefined || listed.deletedServices.length === 0) return undefined;
  const t = translatorOf(visit.request);
  const rows = listed.deletedServices.map((one) => [
    one.name,
    dateOnly(one.deletedAt, t),
    dateOnly(one.restorableUntil, t),
    [
      isAllowed(visit, 'restore_service') &&
        actionButton(visit, 'restore', t('deleted.restore'), { serviceId: one.id }, ''),
      isAllowed(visit, 'delete_service') &&
        confirmedAction(visit, 'purge', {
          label: t('deleted.purge'),
          question: t('service.purge-question', { name: one.name }),
          yes: t('deleted.purge'),
          values: { serviceId: one.id },
        }),
    ],
  ]);
  const headings = [t('account.name'), t('deleted.deleted'), t('deleted.purged-on'), ''];
  return section(t, table(t('service.deleted-services'), headings, rows, t));
}

function section(t: Translator, rows: Html): Html {
  return html`<section>
    <h2>${t('deleted.deleted')}</h2>
    <p>${t('deleted.about')}</p>
    ${rows}
  </section>`;
}
