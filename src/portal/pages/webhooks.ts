import type {
  createWebhook,
  listOrganizationWebhooks,
  updateWebhook,
} from '../../operations/sending/organization-webhooks.ts';
import { EVENT_TYPES } from '../../webhooks/event-types.ts';
import { checkboxes, field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
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
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import type { testWebhook } from '../../operations/sending/webhook-replay.ts';
import type { listDeadWebhookDeliveries, listWebhookDeliveries } from '../../operations/sending/webhook-deliveries.ts';

export type OrganizationWebhook = OutputOf<typeof listOrganizationWebhooks>['webhooks'][number];

/** Description of each event. */
const MEANINGS: Readonly<Record<string, string>> = {
  'email.queued': 'accepted for sending',
  'email.delivered': 'accepted by the recipient’s server',
  'email.deferred': 'deferred, will be retried',
  'email.bounced': 'failed for good',
  'email.complained': 'reported as spam',
  'email.suppressed': 'not sent: on the suppression list',
  'sender.paused': 'a mailbox or key was paused for unusual sending',
};

export const webhooks: Page = {
  path: '/webhooks',
  name: 'Webhooks',
  menu: 'Programs',
  needs: 'list_webhooks',
  notices: { removed: 'Webhook deleted. No more events are sent to it.' },
  actions: {
    create: operationAction(
      'create_webhook',
      (result) => {
        const { signingSecret } = result as OutputOf<typeof createWebhook>;
        return {
          kind: 'shown',
          panel: secret('The signing secret', [['Signing secret', signingSecret]], ABOUT_SECRET),
        };
      },
      (fields) => ({ url: fields.line('url') ?? '', events: fields.list('events') }),
    ),
  },
  async show(visit, state) {
    const all = (await readOperation<typeof listOrganizationWebhooks>(visit, 'list_webhooks', {}))?.webhooks ?? [];
    return html`${pageHead('Webhooks', 'URLs that receive delivery events of sent mail.')}
    ${all.length === 0 ? NONE : list(visit, all)} ${isAllowed(visit, 'create_webhook') && form(visit, state)}`;
  },
};

export const ABOUT_SECRET =
  'Shown only once. Deliveries carry X-Service-Signature: HMAC-SHA256 of the body with this secret.';

const NONE = emptyState('No webhooks', 'Webhooks for incoming mail are on the page of each mailbox.');

/** Status tag of a webhook. */
export function webhookStatus({ enabled, consecutiveFailures, lastDeliveryAt }: OrganizationWebhook): HtmlPart {
  if (!enabled) return tag('Disabled', 'bad');
  if (consecutiveFailures > 0) return tag('Failing', 'warn');
  return lastDeliveryAt === null ? tag('New') : tag('Active', 'ok');
}

function list(visit: Visit, all: readonly OrganizationWebhook[]): HtmlPart {
  return table(
    'Webhooks',
    ['URL', 'Events', 'Status', 'Last delivery'],
    all.map((one) => [
      html`<a href="${visit.base}/webhooks/${one.id}"><code>${one.url}</code></a>`,
      one.events.length === EVENT_TYPES.length ? 'All' : one.events.map((name) => name.slice(6)).join(', '),
      webhookStatus(one),
      one.lastDeliveryAt === null ? 'None' : timestamp(one.lastDeliveryAt),
    ]),
  );
}

function form(visit: Visit, state: PageState): HtmlPart {
  const formState = formStateFor(state, 'create');
  const url = { name: 'url', label: 'URL', type: 'url', placeholder: 'https://example.com/events' } as const;
  return html`<section>
    <h2>Add a webhook</h2>
    ${actionForm(visit, 'create', 'Add webhook', html`${field(url, formState)} ${eventChoice(EVENT_TYPES, formState)}`)}
  </section>`;
}

export function eventChoice(ticked: readonly string[], formState: ReturnType<typeof formStateFor>): HtmlPart {
  const choices = EVENT_TYPES.map((value) => ({ value, label: value, hint: MEANINGS[value] ?? '' }));
  return checkboxes({ name: 'events', label: 'Events', choices, ticked }, formState);
}

type Given = Readonly<Record<string, string | undefined>>;
type Delivery = OutputOf<typeof listWebhookDeliveries>['deliveries'][number];

const LOOKS = { told: ['Delivered', 'ok'], later: ['Deferred', 'warn'], dead: ['Failed', 'bad'] } as const;
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
  replayed: 'The event is being resent.',
  replayedAll: 'Events of the last 24 hours are being resent.',
  enabled: 'Webhook enabled. Pending events are sent, oldest first.',
  tested: 'Test delivered.',
  testFailed: 'Test not delivered. See the deliveries below.',
};

/** Recent delivery attempts, and events that failed for good. */
export async function deliveryHistory(visit: Visit, which: Given): Promise<HtmlPart> {
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
    <h3>Deliveries</h3>
    ${deliveries.length === 0 ? NO_DELIVERIES : attempts(visit, deliveries)}
    ${deliveries.length > 0 && isAllowed(visit, 'replay_webhook_deliveries') && actionButton(visit, 'replayAll', 'Resend last 24 hours', {}, 'quiet')}
    ${(dead?.deliveries.length ?? 0) > 0 && givenUp(visit, dead?.deliveries ?? [])}
  </section>`;
}

const NO_DELIVERIES = emptyState('No deliveries', 'Each attempt is listed here with the response of the receiver.');

function attempts(visit: Visit, deliveries: readonly Delivery[]): HtmlPart {
  return table(
    'Deliveries',
    ['Time', 'Event', 'Status', 'Response', ''],
    deliveries.map((one) => {
      const [name, look] = LOOKS[one.outcome];
      return [
        timestamp(one.at),
        html`<code>${one.type}</code>`,
        tag(name, look),
        html`${one.httpStatus ?? 'no response'}, ${one.durationMs} ms${one.problem !== null && `: ${one.problem}`}
        ${
          one.untrusted.response !== '' &&
          html`<details class="small">
            <summary>Response body</summary>
            <code>${one.untrusted.response}</code>
          </details>`
        }`,
        again(visit, one.deliveryId),
      ];
    }),
  );
}

function givenUp(visit: Visit, dead: OutputOf<typeof listDeadWebhookDeliveries>['deliveries']): HtmlPart {
  return html`<h3>Failed deliveries</h3>
    <p class="small soft">Retried for 32 hours, kept for 30 days.</p>
    ${table(
      'Failed deliveries',
      ['Time', 'Event', 'Attempts', ''],
      dead.map((one) => [
        timestamp(one.at),
        html`<code>${one.type}</code>`,
        one.attempts,
        again(visit, one.deliveryId),
      ]),
    )}`;
}

function again(visit: Visit, deliveryId: string): HtmlPart {
  return isAllowed(visit, 'replay_webhook_delivery') && actionButton(visit, 'replay', 'Resend', { deliveryId }, 'text');
}

const which = (params: Params) => ({ webhookId: params['id'] });

export const webhook: Page = {
  path: '/webhooks/:id',
  name: 'Webhook',
  menu: null,
  needs: 'list_webhooks',
  notices: { changed: 'Changes saved.', ...DELIVERY_NOTICES },
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
      (result) => {
        const { signingSecret } = result as OutputOf<typeof updateWebhook>;
        const rows = [['Signing secret', signingSecret ?? '']] as const;
        return { kind: 'shown', panel: secret('The new signing secret', rows, ABOUT_SECRET) };
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
    return html`${backLink(`${visit.base}/webhooks`, 'Webhooks')}
    ${pageHead(new URL(one.url).host, 'Receives delivery events of sent mail.')} ${about(one)}
    ${buttonRow(
      !one.enabled && isAllowed(visit, 'enable_webhook') && actionButton(visit, 'enable', 'Enable', {}, ''),
      one.enabled && isAllowed(visit, 'test_webhook') && actionButton(visit, 'test', 'Send test', {}, 'quiet'),
    )}
    ${await deliveryHistory(visit, { webhookId: one.id })} ${changes(visit, state, one)}`;
  },
};

function about(one: OrganizationWebhook): HtmlPart {
  const { url, events, lastDeliveryAt, lastStatus, consecutiveFailures: failures, waiting, givenUp } = one;
  return descriptionList([
    ['URL', html`<code>${url}</code>`],
    ['Status', webhookStatus(one)],
    ['Events', events.join(', ')],
    [
      'Last delivery',
      lastDeliveryAt === null ? 'None' : [timestamp(lastDeliveryAt), ` (${lastStatus ?? 'no response'})`],
    ],
    failures > 0 && ['Failed', `${failures} ${failures === 1 ? 'time' : 'times'} in a row`],
    waiting > 0 && ['Pending', waiting],
    givenUp > 0 && ['Failed for good', givenUp],
  ]);
}

function changes(visit: Visit, state: PageState, one: OrganizationWebhook): HtmlPart {
  if (!isAllowed(visit, 'update_webhook')) return undefined;
  const formState = formStateFor(state, 'change');
  const url = { name: 'url', label: 'URL', type: 'url', value: one.url } as const;
  const body = html`${field(url, formState)} ${eventChoice(one.events, formState)}`;
  return html`<section class="stack">
    <h2>Changes</h2>
    ${collapsedForm(visit, state, 'change', 'Change the webhook', 'Save', body)}
    ${confirmedAction(visit, 'rotate', ROTATE)}
    ${isAllowed(visit, 'remove_webhook') && html`<div>${confirmedAction(visit, 'remove', REMOVE)}</div>`}
  </section>`;
}

const ROTATE = {
  label: 'Rotate signing secret',
  question: 'The next request is signed with the new secret only.',
  yes: 'Rotate',
  calm: true,
} as const;

const REMOVE = {
  label: 'Delete webhook',
  question: 'No more events are sent, and its history is deleted.',
  yes: 'Delete',
};
