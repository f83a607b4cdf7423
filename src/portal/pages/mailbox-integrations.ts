import type { testInboundWebhook } from '../../operations/sending/webhook-replay.ts';
import type { getInboundWebhook, setInboundWebhook } from '../../operations/sending/webhooks.ts';
import type { listServicesOf } from '../../operations/services/services.ts';
import { field, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import {
  type Page,
  type PageAction,
  operationAction,
  formStateFor,
  collapsedForm,
  type Params,
  actionButton,
  type PageState,
  confirmedAction,
} from '../page.ts';
import { buttonRow, descriptionList, timestamp, secret, table, tag } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import type { MailboxRow } from './mailboxes.ts';
import { deliveryHistory, deliveryActions } from './webhooks.ts';

const which = (params: Params) => ({ mailboxId: params['id'] });

/** Actions on the services and the webhook of a mailbox. */
export const integrationActions: Readonly<Record<string, PageAction>> = {
  hook: operationAction(
    'set_email_inbound_webhook',
    (result) => {
      const { signingSecret } = result as OutputOf<typeof setInboundWebhook>;
      const about = 'Shown only once. Deliveries carry X-Service-Signature: HMAC-SHA256 of the body with this secret.';
      return { kind: 'shown', panel: secret('The signing secret', [['Signing secret', signingSecret]], about) };
    },
    (fields, params) => ({ ...which(params), url: fields.line('url') ?? '' }),
  ),
  ...deliveryActions(which),
  test: operationAction(
    'test_inbound_webhook',
    (result) => {
      const { status } = result as OutputOf<typeof testInboundWebhook>;
      return { kind: 'done', notice: status === 'told' ? 'tested' : 'testFailed' };
    },
    (_fields, params) => which(params),
  ),
  unhook: operationAction(
    'remove_email_inbound_webhook',
    () => ({
      kind: 'done',
      notice: 'hooked',
    }),
    (_fields, params) => which(params),
  ),
  attach: operationAction('attach_email_to_service', 'attached', (fields, params) => ({
    ...which(params),
    serviceId: fields.text('serviceId'),
    alias: fields.line('alias'),
  })),
  detach: operationAction('detach_email_from_service', 'detached', (fields, params) => ({
    ...which(params),
    serviceId: fields.text('serviceId'),
  })),
};

/** Services and the webhook. */
export const mailboxConnections: Page = mailboxPage('connections', {
  actions: integrationActions,
  show: async (visit, state, found) =>
    html`${await services(visit, state, found)} ${await webhook(visit, state, found)}`,
});

async function services(visit: Visit, state: PageState, one: MailboxRow): Promise<HtmlPart> {
  if (!isAllowed(visit, 'attach_email_to_service')) return undefined;
  const all = (await readOperation<typeof listServicesOf>(visit, 'list_services', { limit: 100 }))?.services ?? [];
  const attached = all.filter(({ id }) => one.attachedServiceIds.includes(id));
  const free = all.filter(({ id }) => !one.attachedServiceIds.includes(id));
  return html`<section>
    <h2>Services</h2>
    <p>Attached services receive the address, servers and password of this mailbox as EMAIL_* variables.</p>
    ${attached.length > 0 && attachedTable(visit, attached)}
    ${all.length === 0 && html`<p class="small soft">No services. <a href="${visit.base}/services">Create one</a>.</p>`}
    ${free.length > 0 && collapsedForm(visit, state, 'attach', 'Attach a service', 'Attach', attachInputs(state, free))}
  </section>`;
}

function attachedTable(visit: Visit, attached: readonly { id: string; name: string }[]): HtmlPart {
  return table(
    'Attached services',
    ['Service', ''],
    attached.map(({ id, name }) => [
      html`<a href="${visit.base}/services/${id}">${name}</a>`,
      confirmedAction(visit, 'detach', {
        label: 'Detach',
        question: `${name} loses the EMAIL_* variables of this mailbox.`,
        yes: 'Detach',
        values: { serviceId: id },
      }),
    ]),
  );
}

function attachInputs(state: PageState, free: readonly { id: string; name: string }[]): HtmlPart {
  const formState = formStateFor(state, 'attach');
  const choices = free.map(({ id, name }) => ({ value: id, label: name }));
  const hint = 'For a second mailbox of the same service: prefixes the variables, EMAIL_<ALIAS>_...';
  return html`${select({ name: 'serviceId', label: 'Service', choices }, formState)}
  ${field({ name: 'alias', label: 'Alias', optional: true, hint }, formState)}`;
}

async function webhook(visit: Visit, state: PageState, one: MailboxRow): Promise<HtmlPart> {
  if (!isAllowed(visit, 'set_email_inbound_webhook')) return undefined;
  const found = await readOperation<typeof getInboundWebhook>(visit, 'get_email_inbound_webhook', {
    mailboxId: one.id,
  });
  const hook = found?.webhook ?? null;
  const url = { name: 'url', label: 'URL', type: 'url', placeholder: 'https://example.com/mail' } as const;
  const body = field({ ...url, value: hook?.url ?? '' }, formStateFor(state, 'hook'));
  return html`<section>
    <h2>Webhook</h2>
    <p>Sends a signed HTTP request for each message that arrives in this mailbox.</p>
    ${hook !== null && [hookFacts(hook), hookActs(visit, hook), await deliveryHistory(visit, { mailboxId: one.id })]}
    ${hook !== null && html`<div>${confirmedAction(visit, 'unhook', REMOVE)}</div>`}
    ${collapsedForm(visit, state, 'hook', hook === null ? 'Create a webhook' : 'Change the webhook', 'Save', body)}
  </section>`;
}

const REMOVE = {
  label: 'Delete webhook',
  question: 'No more requests are sent. Mail is still delivered to the mailbox.',
  yes: 'Delete',
};

function hookActs(visit: Visit, { enabled }: { enabled: boolean }): HtmlPart {
  if (!enabled) return buttonRow(isAllowed(visit, 'enable_webhook') && actionButton(visit, 'enable', 'Enable', {}, ''));
  return buttonRow(
    isAllowed(visit, 'test_inbound_webhook') && actionButton(visit, 'test', 'Send latest message', {}, 'quiet'),
  );
}

function hookFacts(hook: NonNullable<OutputOf<typeof getInboundWebhook>['webhook']>): HtmlPart {
  const { url, enabled, lastDeliveryAt, lastStatus, consecutiveFailures: failures, waiting, givenUp } = hook;
  return descriptionList([
    ['URL', [html`<code>${url}</code>`, ' ', !enabled && tag('Disabled', 'bad')]],
    [
      'Last delivery',
      lastDeliveryAt === null ? 'None' : [timestamp(lastDeliveryAt), ` (${lastStatus ?? 'no response'})`],
    ],
    failures > 0 && ['Failed', `${failures} ${failures === 1 ? 'time' : 'times'} in a row`],
    waiting > 0 && ['Pending', waiting],
    givenUp > 0 && ['Failed for good', givenUp],
  ]);
}
