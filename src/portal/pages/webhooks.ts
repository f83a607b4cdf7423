import type {
  createWebhook,
  listOrganizationWebhooks,
  updateWebhook,
} from '../../operations/sending/organization-webhooks.ts';
import { EVENT_TYPES } from '../../webhooks/event-types.ts';
import { checkboxes, field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import type { PlainPortalKey } from '../message-types.ts';
import {
  operationAction,
  formStateFor,
  type Page,
  actionForm,
  type PageState,
  collapsedForm,
  type Params,
  actionButton,
  confirmedAction,
  type PageAction,
} from '../page.ts';
import {
  emptyState,
  pageHead,
  timestamp,
  secret,
  table,
  tag,
  buttonRow,
  backLink,
  descriptionList,
} from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import type { testWebhook } from '../../operations/sending/webhook-replay.ts';
import type { listDeadWebhookDeliveries, listWebhookDeliveries } from '../../operations/sending/webhook-deliveries.ts';

export type OrganizationWebhook = OutputOf<typeof listOrganizationWebhooks>['webhooks'][number];

/** Description of each event. */
const MEANINGS: Readonly<Record<(typeof EVENT_TYPES)[number], PlainPortalKey>> = {
  'email.queued': 'webhook-event.queued',
  'email.delivered': 'webhook-event.delivered',
  'email.deferred': 'webhook-event.deferred',
  'email.bounced': 'webhook-event.bounced',
  'email.complained': 'webhook-event.complained',
  'email.suppressed': 'webhook-event.suppressed',
  'sender.paused': 'webhook-event.paused',
};

export const webhooks: Page = {
  path: '/webhooks',
  name: 'Webhooks',
  translated: true,
  menu: 'Programs',
  needs: 'list_webhooks',
  notices: { removed: { message: 'webhook.removed' } },
  actions: {
    create: operationAction(
      'create_webhook',
      (result, { request }) => {
        const { signingSecret } = result as OutputOf<typeof createWebhook>;
        const t = translatorOf(request);
        const rows = [[t('connection.secret-name'), signingSecret]] as const;
        return { kind: 'shown', panel: secret(t('connection.secret'), rows, t('connection.secret-about')) };
      },
      (fields) => ({ url: fields.line('url') ?? '', events: fields.list('events') }),
    ),
  },
  async show(visit, state) {
    const all = (await readOperation<typeof listOrganizationWebhooks>(visit, 'list_webhooks', {}))?.webhooks ?? [];
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Webhooks'), t('webhook.about'))}
    ${all.length === 0 ? emptyState(t('webhook.none'), t('webhook.none-text')) : list(t, visit, all)}
    ${isAllowed(visit, 'create_webhook') && form(t, visit, state)}`;
  },
};

/** Status tag of a webhook. */
export function webhookStatus(
  t: Translator,
  { enabled, consecutiveFailures, lastDeliveryAt }: OrganizationWebhook,
): HtmlPart {
  if (!enabled) return tag(t('connection.disabled'), 'bad');
  if (consecutiveFailures > 0) return tag(t('webhook.failing'), 'warn');
  return lastDeliveryAt === null ? tag(t('webhook.new')) : tag(t('state.active'), 'ok');
}

function list(t: Translator, visit: Visit, all: readonly OrganizationWebhook[]): HtmlPart {
  return table(
    t('page.Webhooks'),
    ['URL', t('webhook.events'), t('domains.status'), t('connection.last-delivery')],
    all.map((one) => [
      html`<a href="${visit.base}/webhooks/${one.id}"><code>${one.url}</code></a>`,
      one.events.length === EVENT_TYPES.length ? t('webhook.all') : one.events.map((name) => name.slice(6)).join(', '),
      webhookStatus(t, one),
      one.lastDeliveryAt === null ? t('connection.no-delivery') : timestamp(one.lastDeliveryAt, t),
    ]),
    t,
  );
}

function form(t: Translator, visit: Visit, state: PageState): HtmlPart {
  const formState = formStateFor(state, 'create');
  const url = { name: 'url', label: 'URL', type: 'url', placeholder: 'https://example.com/events' } as const;
  return html`<section>
    <h2>${t('webhook.add')}</h2>
    ${actionForm(visit, 'create', t('webhook.add-button'), html`${field(url, formState)} ${eventChoice(t, EVENT_TYPES, formState)}`)}
  </section>`;
}

export function eventChoice(
  t: Translator,
  ticked: readonly string[],
  formState: ReturnType<typeof formStateFor>,
): HtmlPart {
  const choices = EVENT_TYPES.map((value) => ({ value, label: value, hint: t(MEANINGS[value]) }));
  return checkboxes({ name: 'events', label: t('webhook.events'), choices, ticked }, formState);
}

type Given = Readonly<Record<string, string | undefined>>;
type Delivery = OutputOf<typeof listWebhookDeliveries>['deliveries'][number];

const OUTCOMES = {
  told: ['delivery.delivered', 'ok'],
  later: ['delivery.deferred', 'warn'],
  dead: ['delivery.refused', 'bad'],
} as const;
const SHOWN = 20;

/** Actions on a webhook of either kind; `which` selects it. */
export function deliveryActions(which: (params: Params) => Given): Readonly<Record<string, PageAction>> {
  return {
    replay: operationAction('replay_webhook_delivery', 'replayed', (fields, params) => ({
      ...which(params),
      deliveryId: fields.text('deliveryId'),
    })),
    replayAll: operationAction('replay_webhook_deliveries', 'replayedAll', (_fields, params) => ({
      ...which(params),
      since: new Date(Date.now() - DAY_MS).toISOString(),
    })),
    enable: operationAction('enable_webhook', 'enabled', (_fields, params) => which(params)),
  };
}

const DAY_MS = 24 * 3_600_000;

/** Notices after these actions. */
export const DELIVERY_NOTICES = {
  replayed: { message: 'delivery.replayed' },
  replayedAll: { message: 'delivery.replayed-all' },
  enabled: { message: 'delivery.enabled' },
  tested: { message: 'delivery.tested' },
  testFailed: { message: 'delivery.test-failed' },
} as const satisfies Page['notices'];

/** Recent delivery attempts, and events that failed for good. */
export async function deliveryHistory(visit: Visit, which: Given, t: Translator): Promise<HtmlPart> {
  const listed = await readOperation<typeof listWebhookDeliveries>(visit, 'list_webhook_deliveries', {
    ...which,
    limit: SHOWN,
  });
  const dead = await readOperation<typeof listDeadWebhookDeliveries>(visit, 'list_dead_webhook_deliveries', {
    ...which,
    limit: SHOWN,
  });
  const deliveries = listed?.deliveries ?? [];
  return html`<section>
    <h3>${t('delivery.title')}</h3>
    ${deliveries.length === 0 ? emptyState(t('delivery.none'), t('delivery.none-text')) : attempts(t, visit, deliveries)}
    ${deliveries.length > 0 && isAllowed(visit, 'replay_webhook_deliveries') && actionButton(visit, 'replayAll', t('delivery.resend-all'), {}, 'quiet')}
    ${(dead?.deliveries.length ?? 0) > 0 && givenUp(t, visit, dead?.deliveries ?? [])}
  </section>`;
}

function attempts(t: Translator, visit: Visit, deliveries: readonly Delivery[]): HtmlPart {
  return table(
    t('delivery.title'),
    [t('charts.time'), t('delivery.event'), t('domains.status'), t('delivery.response'), ''],
    deliveries.map((one) => {
      const [name, look] = OUTCOMES[one.outcome];
      return [
        timestamp(one.at, t),
        html`<code>${one.type}</code>`,
        tag(t(name), look),
        html`${one.httpStatus ?? t('connection.no-response')}, ${one.durationMs}
        ms${one.problem !== null && [': ', t.english(one.problem)]}
        ${
          one.untrusted.response !== '' &&
          html`<details class="small">
            <summary>${t('delivery.body')}</summary>
            <code>${one.untrusted.response}</code>
          </details>`
        }`,
        again(t, visit, one.deliveryId),
      ];
    }),
    t,
  );
}

function givenUp(
  t: Translator,
  visit: Visit,
  dead: OutputOf<typeof listDeadWebhookDeliveries>['deliveries'],
): HtmlPart {
  return html`<h3>${t('delivery.failed')}</h3>
    <p class="small soft">${t('delivery.failed-about')}</p>
    ${table(
      t('delivery.failed'),
      [t('charts.time'), t('delivery.event'), t('delivery.attempts'), ''],
      dead.map((one) => [
        timestamp(one.at, t),
        html`<code>${one.type}</code>`,
        one.attempts,
        again(t, visit, one.deliveryId),
      ]),
      t,
    )}`;
}

function again(t: Translator, visit: Visit, deliveryId: string): HtmlPart {
  return (
    isAllowed(visit, 'replay_webhook_delivery') &&
    actionButton(visit, 'replay', t('delivery.resend'), { deliveryId }, 'text')
  );
}

const which = (params: Params) => ({ webhookId: params['id'] });

export const webhook: Page = {
  path: '/webhooks/:id',
  name: 'Webhook',
  translated: true,
  menu: null,
  needs: 'list_webhooks',
  notices: { changed: { message: 'mailbox.changed' }, ...DELIVERY_NOTICES },
  actions: {
    ...deliveryActions(which),
    test: operationAction(
      'test_webhook',
      (result) => {
        const { status } = result as OutputOf<typeof testWebhook>;
        return { kind: 'done', notice: status === 'told' ? 'tested' : 'testFailed' };
      },
      (_fields, params) => which(params),
    ),
    change: operationAction('update_webhook', 'changed', (fields, params) => ({
      ...which(params),
      url: fields.line('url'),
      events: fields.list('events'),
    })),
    rotate: operationAction(
      'update_webhook',
      (result, { request }) => {
        const { signingSecret } = result as OutputOf<typeof updateWebhook>;
        const t = translatorOf(request);
        const rows = [[t('connection.secret-name'), signingSecret ?? '']] as const;
        return { kind: 'shown', panel: secret(t('webhook.new-secret'), rows, t('connection.secret-about')) };
      },
      (_fields, params) => ({ ...which(params), rotateSecret: true }),
    ),
    remove: operationAction(
      'remove_webhook',
      (_result, visit) => ({ kind: 'done', notice: 'removed', to: `${visit.base}/webhooks` }),
      (_fields, params) => which(params),
    ),
  },
  async show(visit, state) {
    const listed = await readOperation<typeof listOrganizationWebhooks>(visit, 'list_webhooks', {});
    const one = listed?.webhooks.find(({ id }) => id === state.params['id']);
    if (one === undefined) return undefined;
    const t = translatorOf(visit.request);
    return html`${backLink(`${visit.base}/webhooks`, t('page.Webhooks'))}
    ${pageHead(new URL(one.url).host, t('webhook.about-one'))} ${about(t, one)}
    ${buttonRow(
      !one.enabled &&
        isAllowed(visit, 'enable_webhook') &&
        actionButton(visit, 'enable', t('connection.enable'), {}, ''),
      one.enabled && isAllowed(visit, 'test_webhook') && actionButton(visit, 'test', t('webhook.test'), {}, 'quiet'),
    )}
    ${await deliveryHistory(visit, { webhookId: one.id }, t)} ${changes(t, visit, state, one)}`;
  },
};

function about(t: Translator, one: OrganizationWebhook): HtmlPart {
  const { url, events, lastDeliveryAt, lastStatus, consecutiveFailures: failures, waiting, givenUp } = one;
  return descriptionList([
    ['URL', html`<code>${url}</code>`],
    [t('domains.status'), webhookStatus(t, one)],
    [t('webhook.events'), events.join(', ')],
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

function changes(t: Translator, visit: Visit, state: PageState, one: OrganizationWebhook): HtmlPart {
  if (!isAllowed(visit, 'update_webhook')) return undefined;
  const formState = formStateFor(state, 'change');
  const url = { name: 'url', label: 'URL', type: 'url', value: one.url } as const;
  const rotate = {
    label: t('webhook.rotate'),
    question: t('webhook.rotate-question'),
    yes: t('webhook.rotate-button'),
    calm: true,
  } as const;
  const remove = {
    label: t('connection.delete-webhook'),
    question: t('webhook.delete-question'),
    yes: t('mailbox.delete-button'),
  };
  const body = html`${field(url, formState)} ${eventChoice(t, one.events, formState)}`;
  return html`<section class="stack">
    <h2>${t('charts.changes')}</h2>
    ${collapsedForm(visit, state, 'change', t('connection.change-webhook'), t('mailbox.save'), body)}
    ${confirmedAction(visit, 'rotate', rotate)}
    ${isAllowed(visit, 'remove_webhook') && html`<div>${confirmedAction(visit, 'remove', remove)}</div>`}
  </section>`;
}
