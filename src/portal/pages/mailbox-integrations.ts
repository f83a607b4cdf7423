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
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import type { MailboxRow } from './mailboxes.ts';
import { deliveryHistory, deliveryActions } from './webhooks.ts';

const which = (params: Params) => ({ mailboxId: params['id'] });

/** Actions on the services and the webhook of a mailbox. */
export const integrationActions: Readonly<Record<string, PageAction>> = {
  hook: operationAction(
    'set_email_inbound_webhook',
    (result, { request }) => {
      const { signingSecret } = result as OutputOf<typeof setInboundWebhook>;
      const t = translatorOf(request);
      const rows = [[t('connection.secret-name'), signingSecret]] as const;
      return { kind: 'shown', panel: secret(t('connection.secret'), rows, t('connection.secret-about')) };
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
  translated: true,
  actions: integrationActions,
  show: async (visit, state, found) =>
    html`${await services(visit, state, found)} ${await webhook(visit, state, found)}`,
});

async function services(visit: Visit, state: PageState, one: MailboxRow): Promise<HtmlPart> {
  if (!isAllowed(visit, 'attach_email_to_service')) return undefined;
  const all = (await readOperation<typeof listServicesOf>(visit, 'list_services', { limit: 100 }))?.services ?? [];
  const attached = all.filter(({ id }) => one.attachedServiceIds.includes(id));
  const t = translatorOf(visit.request);
  const free = all.filter(({ id }) => !one.attachedServiceIds.includes(id));
  return html`<section>
    <h2>${t('page.Services')}</h2>
    <p>${t('connection.services-about')}</p>
    ${attached.length > 0 && attachedTable(t, visit, attached)}
    ${all.length === 0 && html`<p class="small soft">${t.rich('connection.no-services', { link: servicesLink(t, visit) })}</p>`}
    ${free.length > 0 && collapsedForm(visit, state, 'attach', t('connection.attach-title'), t('connection.attach'), attachInputs(t, state, free))}
  </section>`;
}

const servicesLink = (t: Translator, { base }: Visit): HtmlPart =>
  html`<a href="${base}/services">${t('connection.create-service')}</a>`;

function attachedTable(t: Translator, visit: Visit, attached: readonly { id: string; name: string }[]): HtmlPart {
  return table(
    t('connection.attached-services'),
    [t('page.Service'), ''],
    attached.map(({ id, name }) => [
      html`<a href="${visit.base}/services/${id}">${name}</a>`,
      confirmedAction(visit, 'detach', {
        label: t('connection.detach'),
        question: t('connection.detach-question', { name }),
        yes: t('connection.detach'),
        values: { serviceId: id },
      }),
    ]),
    t,
  );
}

function attachInputs(t: Translator, state: PageState, free: readonly { id: string; name: string }[]): HtmlPart {
  const formState = formStateFor(state, 'attach');
  const choices = free.map(({ id, name }) => ({ value: id, label: name }));
  const hint = t('connection.alias-hint', { alias: '<ALIAS>' });
  const optional = t('field.optional');
  return html`${select({ name: 'serviceId', label: t('page.Service'), choices }, formState)}
  ${field({ name: 'alias', label: t('find.alias'), optional, hint }, formState)}`;
}

async function webhook(visit: Visit, state: PageState, one: MailboxRow): Promise<HtmlPart> {
  if (!isAllowed(visit, 'set_email_inbound_webhook')) return undefined;
  const found = await readOperation<typeof getInboundWebhook>(visit, 'get_email_inbound_webhook', {
    mailboxId: one.id,
  });
  const hook = found?.webhook ?? null;
  const t = translatorOf(visit.request);
  const title = t(hook === null ? 'connection.create-webhook' : 'connection.change-webhook');
  const remove = {
    label: t('connection.delete-webhook'),
    question: t('connection.delete-question'),
    yes: t('mailbox.delete-button'),
  };
  const url = { name: 'url', label: 'URL', type: 'url', placeholder: 'https://example.com/mail' } as const;
  const body = field({ ...url, value: hook?.url ?? '' }, formStateFor(state, 'hook'));
  return html`<section>
    <h2>Webhook</h2>
    <p>${t('connection.webhook-about')}</p>
    ${hook !== null && [hookFacts(t, hook), hookActs(t, visit, hook), await deliveryHistory(visit, { mailboxId: one.id }, t)]}
    ${hook !== null && html`<div>${confirmedAction(visit, 'unhook', remove)}</div>`}
    ${collapsedForm(visit, state, 'hook', title, t('mailbox.save'), body)}
  </section>`;
}

function hookActs(t: Translator, visit: Visit, { enabled }: { enabled: boolean }): HtmlPart {
  if (!enabled) {
    return buttonRow(
      isAllowed(visit, 'enable_webhook') && actionButton(visit, 'enable', t('connection.enable'), {}, ''),
    );
  }
  return buttonRow(
    isAllowed(visit, 'test_inbound_webhook') && actionButton(visit, 'test', t('connection.test'), {}, 'quiet'),
  );
}

function hookFacts(t: Translator, hook: NonNullable<OutputOf<typeof getInboundWebhook>['webhook']>): HtmlPart {
  const { url, enabled, lastDeliveryAt, lastStatus, consecutiveFailures: failures, waiting, givenUp } = hook;
  return descriptionList([
    ['URL', [html`<code>${url}</code>`, ' ', !enabled && tag(t('connection.disabled'), 'bad')]],
    [
      t('connection.last-delivery'),
      lastDeliveryAt === null
        ? t('connection.no-delivery')
        : [timestamp(lastDeliveryAt, t), ` (${lastStatus ?? t('connection.no-response')})`],
    ],
    failures > 0 && [t('connection.failed'), t('connection.failures', { count: failures })],
    waiting > 0 && [t('connection.pending'), waiting],
    givenUp > 0 && [t('connection.given-up'), givenUp],
  ]);
}
