import type { createWebhook, listOrganizationWebhooks } from '../../operations/sending/organization-webhooks.ts';
import { EVENT_TYPES } from '../../webhooks/event-types.ts';
import { checks, field } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, filledFor, type Page, sheet, type State } from '../page.ts';
import { empty, head, moment, secret, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

export type OrganizationWebhook = Answer<typeof listOrganizationWebhooks>['webhooks'][number];

/** What each event says, where one is chosen. */
const MEANINGS: Readonly<Record<string, string>> = {
  'email.queued': 'taken to be sent',
  'email.delivered': 'the server of the recipient took it',
  'email.deferred': 'not taken now, tried again',
  'email.bounced': 'not delivered in the end',
  'email.complained': 'called unwanted',
  'email.suppressed': 'not sent: on the suppression list',
  'sender.paused': 'a mailbox or key was paused, as it sent what it never sent',
};

export const webhooks: Page = {
  path: '/webhooks',
  name: 'Webhooks',
  menu: 'Programs',
  needs: 'list_webhooks',
  done: { removed: 'The webhook is removed. Nothing more is sent to it.' },
  acts: {
    create: acting(
      'create_webhook',
      (fields) => ({ url: fields.line('url') ?? '', events: fields.list('events') }),
      (result) => {
        const { signingSecret } = result as Answer<typeof createWebhook>;
        return {
          kind: 'shown',
          panel: secret('The signing secret', [['Signing secret', signingSecret]], ABOUT_SECRET),
        };
      },
    ),
  },
  async show(visit, state) {
    const all = (await read<typeof listOrganizationWebhooks>(visit, 'list_webhooks', {}))?.webhooks ?? [];
    return html`${head('Webhooks', 'Programs of yours are told what becomes of the mail that you send.')}
    ${all.length === 0 ? NONE : list(visit, all)} ${can(visit, 'create_webhook') && form(visit, state)}`;
  },
};

export const ABOUT_SECRET =
  'It is shown this once. Deliveries carry X-Service-Signature, an HMAC-SHA256 of the body with it.';

const NONE = empty(
  'No program is told of sent mail',
  'A webhook for mail that arrives is set on the page of its mailbox.',
);

/** How a webhook does, in a word. */
export function health({ enabled, consecutiveFailures, lastDeliveryAt }: OrganizationWebhook): Part {
  if (!enabled) return tag('off', 'bad');
  if (consecutiveFailures > 0) return tag('fails', 'warn');
  return lastDeliveryAt === null ? tag('new') : tag('works', 'ok');
}

function list(visit: Visit, all: readonly OrganizationWebhook[]): Part {
  return table(
    'Webhooks',
    ['URL', 'Told of', 'State', 'Last delivery'],
    all.map((one) => [
      html`<a href="${visit.base}/webhooks/${one.id}"><code>${one.url}</code></a>`,
      one.events.length === EVENT_TYPES.length ? 'everything' : one.events.map((name) => name.slice(6)).join(', '),
      health(one),
      one.lastDeliveryAt === null ? 'none yet' : moment(one.lastDeliveryAt),
    ]),
  );
}

function form(visit: Visit, state: State): Part {
  const filled = filledFor(state, 'create');
  const url = { name: 'url', label: 'URL', type: 'url', placeholder: 'https://example.com/events' } as const;
  return html`<section>
    <h2>Add a webhook</h2>
    ${sheet(visit, 'create', 'Add it', html`${field(url, filled)} ${eventChoice(EVENT_TYPES, filled)}`)}
  </section>`;
}

export function eventChoice(ticked: readonly string[], filled: ReturnType<typeof filledFor>): Part {
  const choices = EVENT_TYPES.map((value) => ({ value, label: value, hint: MEANINGS[value] ?? '' }));
  return checks({ name: 'events', label: 'Tell it of', choices, ticked }, filled);
}
