import { field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import {
  operationAction,
  formStateFor,
  collapsedForm,
  type Page,
  type PageState,
  confirmedAction,
  type PageAction,
} from '../page.ts';
import { bytes, descriptionList, timestamp } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { isAllowed, type Visit } from '../visit.ts';
import { accessActions } from './mailbox-access.ts';
import { addressActions } from './mailbox-addresses.ts';
import { integrationActions } from './mailbox-integrations.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import { type MailboxRow, mailboxStatus } from './mailboxes.ts';
import { deliveryLogLink } from './delivery-log.ts';

const ownActions: Readonly<Record<string, PageAction>> = {
  change: operationAction('update_email', 'changed', (fields, params) => ({
    mailboxId: params['id'],
    displayName: fields.line('displayName') ?? null,
  })),
  remove: operationAction(
    'delete_email',
    (_result, visit) => ({ kind: 'done', notice: 'deleted', to: `${visit.base}/mailboxes` }),
    (fields, params) => ({ mailboxId: params['id'], confirm: fields.text('confirm').trim() }),
  ),
};

/** First page of a mailbox. Takes the actions of its other pages too, so that a form may be sent to either. */
export const mailbox: Page = mailboxPage('', {
  translated: true,
  notices: {
    made: { message: 'mailbox.made' },
    changed: { message: 'mailbox.changed' },
  },
  actions: { ...accessActions, ...integrationActions, ...addressActions, ...ownActions },
  show: (visit, state, found) => {
    const t = translatorOf(visit.request);
    const policy = html`<a href="${visit.base}/agent-policies">${t('mailbox.policy')}</a>`;
    return Promise.resolve(
      html`${descriptionList([
        [t('domains.status'), mailboxStatus(found, t)],
        [t('mailbox.stored'), stored(t, found)],
        [t('mailbox.created'), timestamp(found.createdAt, t)],
        found.agentPolicyId !== null && [t('page.Agents'), t.rich('mailbox.governed', { policy })],
      ])}
      ${isAllowed(visit, 'trace_message') && html`<p class="spaced">${deliveryLogLink(visit, found.address, t('page.Delivery log'))}</p>`}
      ${changes(t, visit, state, found)}`,
    );
  },
});

function stored(t: Translator, { usedBytes, quotaBytes }: MailboxRow): HtmlPart {
  if (quotaBytes === null) return bytes(usedBytes, t);
  return html`${t('mailboxes.used-of', { used: bytes(usedBytes, t), quota: bytes(quotaBytes, t) })}
    <meter
      min="0"
      max="${quotaBytes}"
      high="${Math.round(quotaBytes * 0.9)}"
      value="${usedBytes}"
      aria-label="${t('mailbox.used')}"
    ></meter>`;
}

function changes(t: Translator, visit: Visit, state: PageState, one: MailboxRow): HtmlPart {
  const optional = t('field.optional');
  const name = { name: 'displayName', label: t('account.name'), optional, value: one.displayName ?? '' };
  const confirm = { name: 'confirm', label: t('deleted.confirm'), autocomplete: 'off' };
  const remove = {
    label: t('mailbox.delete'),
    question: t('mailbox.delete-question', { address: one.address }),
    yes: t('mailbox.delete-button'),
    body: field(confirm, formStateFor(state, 'remove')),
  };
  const rename = field(name, formStateFor(state, 'change'));
  return html`<section class="stack">
    <h2>${t('charts.changes')}</h2>
    ${isAllowed(visit, 'update_email') && collapsedForm(visit, state, 'change', t('mailbox.rename'), t('mailbox.save'), rename)}
    ${isAllowed(visit, 'delete_email') && html`<div>${confirmedAction(visit, 'remove', remove)}</div>`}
  </section>`;
}
