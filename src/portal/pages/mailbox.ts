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
  notices: {
    made: 'Mailbox created. Show its password under Access to set up a mail program.',
    changed: 'Changes saved.',
  },
  actions: { ...accessActions, ...integrationActions, ...addressActions, ...ownActions },
  show: (visit, state, found) =>
    Promise.resolve(
      html`${descriptionList([
        ['Status', mailboxStatus(found)],
        ['Stored', stored(found)],
        ['Created', timestamp(found.createdAt)],
        found.agentPolicyId !== null && [
          'Agents',
          html`Governed by a <a href="${visit.base}/agent-policies">policy</a>`,
        ],
      ])}
      ${isAllowed(visit, 'trace_message') && html`<p class="spaced">${deliveryLogLink(visit, found.address)}</p>`}
      ${changes(visit, state, found)}`,
    ),
});

function stored({ usedBytes, quotaBytes }: MailboxRow): HtmlPart {
  if (quotaBytes === null) return bytes(usedBytes);
  return html`${bytes(usedBytes)} of ${bytes(quotaBytes)}
    <meter
      min="0"
      max="${quotaBytes}"
      high="${Math.round(quotaBytes * 0.9)}"
      value="${usedBytes}"
      aria-label="Used"
    ></meter>`;
}

function changes(visit: Visit, state: PageState, one: MailboxRow): HtmlPart {
  const name = { name: 'displayName', label: 'Name', optional: true, value: one.displayName ?? '' };
  const confirm = { name: 'confirm', label: 'Enter its address to confirm', autocomplete: 'off' };
  const remove = {
    label: 'Delete mailbox',
    question: `Deletes ${one.address} with its mail, passwords, forwards and webhook. You can restore it for 30 days; app passwords and tokens stay revoked.`,
    yes: 'Delete',
    body: field(confirm, formStateFor(state, 'remove')),
  };
  const rename = field(name, formStateFor(state, 'change'));
  return html`<section class="stack">
    <h2>Changes</h2>
    ${isAllowed(visit, 'update_email') && collapsedForm(visit, state, 'change', 'Change the name', 'Save', rename)}
    ${isAllowed(visit, 'delete_email') && html`<div>${confirmedAction(visit, 'remove', remove)}</div>`}
  </section>`;
}
