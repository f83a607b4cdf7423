import type { listQueueItems } from '../../operations/queue/list.ts';
import type { listPausedSenders } from '../../operations/sending/paused-senders.ts';
import { html, type HtmlPart } from '../html.ts';
import {
  type PageAction,
  operationAction,
  type Page,
  actionButton,
  confirmedAction,
  formStateFor,
  collapsedForm,
  type PageState,
} from '../page.ts';
import {
  buttonRow,
  address,
  bytes,
  cursorOf,
  emptyState,
  pageHead,
  timestamp,
  nextPage,
  table,
  tag,
  backLink,
  descriptionList,
} from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import type { listRoutes } from '../../operations/queue/routes.ts';
import type { getQueueItem } from '../../operations/queue/read.ts';
import { hidden, select } from '../forms.ts';
import { deliveryLogLink } from './delivery-log.ts';

export type QueueTableRow = OutputOf<typeof listQueueItems>['items'][number];

const queueAction = (verb: string, notice: string): PageAction =>
  operationAction(`${verb}_queue_item`, (_result, visit) => ({ kind: 'done', notice, to: `${visit.base}/queue` }), [
    'queueId',
  ]);

export const QUEUE_ACTIONS: Readonly<Record<string, PageAction>> = {
  release: queueAction('release', 'released'),
  retry: queueAction('retry', 'retried'),
  hold: queueAction('hold', 'held'),
  cancel: queueAction('cancel', 'cancelled'),
  route: operationAction(
    'set_queue_route',
    (_result, visit) => ({ kind: 'done', notice: 'rerouted', to: `${visit.base}/queue` }),
    ['queueId', 'route'],
  ),
};

export const queue: Page = {
  path: '/queue',
  name: 'Queue',
  menu: 'Mail',
  needs: 'list_queue',
  notices: {
    resumed: 'Sender resumed. Its held mail is released.',
    released: 'Message released.',
    retried: 'Delivery is being retried.',
    held: 'Message held until you release it.',
    rerouted: 'Route changed. Unless held, delivery is retried now.',
    cancelled: 'Message removed from the queue. It will not be sent.',
  },
  actions: {
    ...QUEUE_ACTIONS,
    resume: operationAction('resume_sender', 'resumed', ['sender']),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await readOperation<typeof listQueueItems>(visit, 'list_queue', page);
    const all = listed?.items ?? [];
    return html`${pageHead('Queue', 'Undelivered outgoing mail, one row per recipient, with the reason.')}
    ${visit.context.hold !== null && LOCAL} ${await pausedTable(visit)}
    ${all.length === 0 ? emptyState('The queue is empty', 'All sent mail was delivered or bounced.') : queueTable(visit, all)}
    ${nextPage(`${visit.base}/queue`, listed?.nextCursor)}`;
  },
};

const LOCAL = html`<div class="note">
  <p>Local mode: outgoing mail is held. Release messages to send them.</p>
</div>`;

/** Paused senders with the reason; undefined if there are none. */
async function pausedTable(visit: Visit): Promise<HtmlPart> {
  const listed = await readOperation<typeof listPausedSenders>(visit, 'list_paused_senders', { limit: 100 });
  const all = listed?.senders ?? [];
  if (all.length === 0) return undefined;
  return html`<section>
    <h2>Paused senders</h2>
    <p>Paused for unusual sending. Their mail is held, not lost.</p>
    ${table(
      'Paused senders',
      ['Sender', 'Reason', 'Since', ''],
      all.map((one) => [
        address(one.name === '' ? one.sender : one.name),
        one.why,
        timestamp(one.since),
        isAllowed(visit, 'resume_sender') && resumeForm(visit, one),
      ]),
    )}
  </section>`;
}

function resumeForm(visit: Visit, { sender, name }: { sender: string; name: string }): HtmlPart {
  return confirmedAction(visit, 'resume', {
    label: 'Resume',
    question: `${name} sends again, and its held mail is released. First make sure that its password is safe, and cancel unwanted messages.`,
    yes: 'Resume',
    values: { sender },
  });
}

function queueTable(visit: Visit, all: readonly QueueTableRow[]): HtmlPart {
  return table(
    'Queue',
    ['Recipient', 'Sender', 'Status', ''],
    all.map((one) => [
      html`<a href="${visit.base}/queue/${one.queueId}">${address(one.to)}</a>`,
      [one.from === '' ? 'Bounce' : address(one.from), html` <span class="soft">${bytes(one.bytes)}</span>`],
      [
        one.state === 'held' ? tag('Held', 'warn') : tag(one.attempts === 0 ? 'Queued' : 'Deferred'),
        html` <span class="soft">${one.explanation}</span>`,
        one.untrusted.lastError !== null &&
          html` <span class="soft">Remote server: <bdi>${one.untrusted.lastError}</bdi></span>`,
        html` <span class="soft">Since ${timestamp(one.queuedAt)}${next(one)}</span>`,
        isAllowed(visit, 'trace_message') &&
          html` <a
            class="small"
            href="${visit.base}/trace?q=${one.messageId}"
            aria-label="Timeline of the message to ${one.to}"
            >Timeline</a
          >`,
      ],
      queueButtons(visit, one),
    ]),
  );
}

function next({ nextAttemptAt }: QueueTableRow): HtmlPart {
  return nextAttemptAt !== null && [', next attempt ', timestamp(nextAttemptAt)];
}

export function queueButtons(visit: Visit, { queueId, state, to }: QueueTableRow): HtmlPart {
  const values = { queueId };
  if (!isAllowed(visit, 'cancel_queue_item')) return undefined;
  return buttonRow(
    state === 'held'
      ? actionButton(visit, 'release', 'Release', values)
      : [actionButton(visit, 'retry', 'Retry', values), actionButton(visit, 'hold', 'Hold', values)],
    confirmedAction(visit, 'cancel', {
      label: 'Cancel',
      question: `The message to ${to} is not sent, and no bounce is sent.`,
      yes: 'Cancel message',
      values,
    }),
  );
}

type Queued = OutputOf<typeof getQueueItem>;

/** One queued message: envelope, status and text. */
export const queuedMail: Page = {
  path: '/queue/:id',
  name: 'Queued mail',
  menu: null,
  needs: 'get_queue_item',
  notices: {},
  actions: QUEUE_ACTIONS,
  async show(visit, state) {
    const { params } = state;
    const found = await readOperation<typeof getQueueItem>(visit, 'get_queue_item', { queueId: params['id'] ?? '' });
    if (found === undefined) return undefined;
    const { item, message } = found;
    return html`${backLink(`${visit.base}/queue`, 'Queue')}
      ${pageHead(message.untrusted.subject === '' ? '(no subject)' : message.untrusted.subject, undefined, queueButtons(visit, item))}
      ${envelope(found)} ${isAllowed(visit, 'trace_message') && deliveryLogLink(visit, item.messageId)}
      <section>
        <h2>Text</h2>
        ${
          message.untrusted.text === ''
            ? html`<p class="soft">The message has no text.</p>`
            : html`<pre class="copy fold" tabindex="0" dir="auto">${message.untrusted.text}</pre>`
        }
        ${message.truncated && html`<p class="small soft">Truncated.</p>`}
      </section>
      ${attachments(message.untrusted.attachments)} ${await routeForm(visit, state, item)}`;
  },
};

/** Form to change the route; the current one is selected. */
async function routeForm(visit: Visit, state: PageState, { queueId, route }: Queued['item']): Promise<HtmlPart> {
  if (!isAllowed(visit, 'set_queue_route')) return undefined;
  const listed = isAllowed(visit, 'list_outbound_routes')
    ? await readOperation<typeof listRoutes>(visit, 'list_outbound_routes', {})
    : undefined;
  const choices = [
    { value: 'automatic', label: 'Automatic, by routes' },
    { value: 'direct', label: 'Direct, to the recipient’s MX' },
    ...(visit.context.settings.smarthost === undefined
      ? []
      : [{ value: 'smarthost', label: 'Smarthost of this server' }]),
    ...(listed?.routes ?? []).flatMap(({ routeId, host }) => (host === null ? [] : [{ value: routeId, label: host }])),
  ];
  const body = [
    hidden('queueId', queueId),
    select({ name: 'route', label: 'Route', choices, value: route }, formStateFor(state, 'route')),
  ];
  return collapsedForm(visit, state, 'route', 'Change the route', 'Change route', body);
}

function envelope({ item, message }: Queued): HtmlPart {
  return descriptionList([
    ['Status', [tag(item.state, item.state === 'held' ? 'warn' : ''), ' ', item.explanation]],
    item.untrusted.lastError !== null && ['Remote server', item.untrusted.lastError],
    ['Queued', timestamp(item.queuedAt)],
    ['Recipient', item.to],
    ['Sender', item.from === '' ? 'This server (bounce)' : item.from],
    ['From', message.untrusted.from],
    ['To', message.untrusted.to],
    message.untrusted.cc !== '' && ['Cc', message.untrusted.cc],
    ['Size', bytes(item.bytes)],
  ]);
}

function attachments(all: Queued['message']['untrusted']['attachments']): HtmlPart {
  return (
    all.length > 0 &&
    html`<section>
      <h2>Attachments</h2>
      <ul>
        ${all.map(({ filename, contentType }) => html`<li>${filename} <span class="soft">${contentType}</span></li>`)}
      </ul>
    </section>`
  );
}
