import type { listOrganizationWebhooks, updateWebhook } from '../../operations/sending/organization-webhooks.ts';
import type { testWebhook } from '../../operations/sending/webhook-replay.ts';
import { field } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, filledFor, more, type Page, type Params, press, type State, sure } from '../page.ts';
import { acts, crumb, facts, head, moment, secret } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';
import { history, HISTORY_DONE, historyActs } from './webhook-history.ts';
import { ABOUT_SECRET, eventChoice, health, type OrganizationWebhook } from './webhooks.ts';

const which = (params: Params) => ({ webhookId: params['id'] });

export const webhook: Page = {
  path: '/webhooks/:id',
  name: 'Webhook',
  menu: null,
  needs: 'list_webhooks',
  done: { changed: 'The changes are saved.', ...HISTORY_DONE },
  acts: {
    ...historyActs(which),
    test: acting(
      'test_webhook',
      (_fields, params) => which(params),
      (result) => {
        const { status } = result as Answer<typeof testWebhook>;
        return { kind: 'done', said: status === 'told' ? 'tested' : 'untaken' };
      },
    ),
    change: acting(
      'update_webhook',
      (fields, params) => ({ ...which(params), url: fields.line('url'), events: fields.list('events') }),
      () => ({ kind: 'done', said: 'changed' }),
    ),
    rotate: acting(
      'update_webhook',
      (_fields, params) => ({ ...which(params), rotateSecret: true }),
      (result) => {
        const { signingSecret } = result as Answer<typeof updateWebhook>;
        const rows = [['Signing secret', signingSecret ?? '']] as const;
        return { kind: 'shown', panel: secret('The new signing secret', rows, ABOUT_SECRET) };
      },
    ),
    remove: acting(
      'remove_webhook',
      (_fields, params) => which(params),
      (_result, visit) => ({ kind: 'done', said: 'removed', to: `${visit.base}/webhooks` }),
    ),
  },
  async show(visit, state) {
    const listed = await read<typeof listOrganizationWebhooks>(visit, 'list_webhooks', {});
    const one = listed?.webhooks.find(({ id }) => id === state.params['id']);
    if (one === undefined) return undefined;
    return html`${crumb(`${visit.base}/webhooks`, 'Webhooks')}
    ${head(new URL(one.url).host, 'It is told what becomes of the mail that you send.')} ${about(one)}
    ${acts(
      !one.enabled && can(visit, 'enable_webhook') && press(visit, 'enable', 'Switch it on again', {}, ''),
      one.enabled && can(visit, 'test_webhook') && press(visit, 'test', 'Send a test', {}, 'quiet'),
    )}
    ${await history(visit, { webhookId: one.id })} ${changes(visit, state, one)}`;
  },
};

function about(one: OrganizationWebhook): Part {
  const { url, events, lastDeliveryAt, lastStatus, consecutiveFailures: failures, waiting, givenUp } = one;
  return facts([
    ['URL', html`<code>${url}</code>`],
    ['State', health(one)],
    ['Told of', events.join(', ')],
    [
      'Last delivery',
      lastDeliveryAt === null ? 'none yet' : [moment(lastDeliveryAt), ` (${lastStatus ?? 'no answer'})`],
    ],
    failures > 0 && ['Failed', `${failures} times in a row`],
    waiting > 0 && ['Waiting', waiting],
    givenUp > 0 && ['Given up', givenUp],
  ]);
}

function changes(visit: Visit, state: State, one: OrganizationWebhook): Part {
  if (!can(visit, 'update_webhook')) return undefined;
  const filled = filledFor(state, 'change');
  const url = { name: 'url', label: 'URL', type: 'url', value: one.url } as const;
  const body = html`${field(url, filled)} ${eventChoice(one.events, filled)}`;
  return html`<section class="stack">
    <h2>Changes</h2>
    ${more(visit, state, 'change', 'Change it', 'Save', body)} ${sure(visit, 'rotate', ROTATE)}
    ${can(visit, 'remove_webhook') && html`<div>${sure(visit, 'remove', REMOVE)}</div>`}
  </section>`;
}

const ROTATE = {
  label: 'Make a new signing secret',
  question: 'The old one signs nothing from the next request on.',
  yes: 'Make a new one',
  calm: true,
} as const;

const REMOVE = {
  label: 'Remove the webhook',
  question: 'Nothing more is sent to it, and its history is gone.',
  yes: 'Remove it',
};
