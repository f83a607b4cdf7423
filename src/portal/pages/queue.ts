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
import { type Translator, translatorOf } from '../translator.ts';
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
  translated: true,
  menu: 'Mail',
  needs: 'list_queue',
  notices: {
    resumed: { message: 'queue.resumed' },
    released: { message: 'queue.released' },
    retried: { message: 'queue.retried' },
    held: { message: 'queue.held' },
    rerouted: { message: 'queue.rerouted' },
    cancelled: { message: 'queue.cancelled' },
  },
  actions: {
    ...QUEUE_ACTIONS,
    resume: operationAction('resume_sender', 'resumed', ['sender']),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await readOperation<typeof listQueueItems>(visit, 'list_queue', page);
    const all = listed?.items ?? [];
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Queue'), t('queue.about'))} ${visit.context.hold !== null && localNote(t)}
    ${await pausedTable(t, visit)}
    ${all.length === 0 ? emptyState(t('queue.empty'), t('queue.empty-text')) : queueTable(t, visit, all)}
    ${nextPage(`${visit.base}/queue`, listed?.nextCursor, t)}`;
  },
};

const localNote = (t: Translator): HtmlPart => html`<div class="note"><p>${t('queue.local')}</p></div>`;

/** Paused senders with the reason; undefined if there are none. */
async function pausedTable(t: Translator, visit: Visit): Promise<HtmlPart> {
  const listed = await readOperation<typeof listPausedSenders>(visit, 'list_paused_senders', { limit: 100 });
  const all = listed?.senders ?? [];
  if (all.length === 0) return undefined;
  return html`<section>
    <h2>${t('queue.paused')}</h2>
    <p>${t('queue.paused-text')}</p>
    ${table(
      t('queue.paused'),
      [t('rule.sender'), t('approvals.reason'), t('queue.since'), ''],
      all.map((one) => [
        address(one.name === '' ? one.sender : one.name),
        t.english(one.why),
        timestamp(one.since, t),
        isAllowed(visit, 'resume_sender') && resumeForm(t, visit, one),
      ]),
      t,
    )}
  </section>`;
}

function resumeForm(t: Translator, visit: Visit, { sender, name }: { sender: string; name: string }): HtmlPart {
  return confirmedAction(visit, 'resume', {
    label: t('queue.resume'),
    question: t('queue.resume-question', { name }),
    yes: t('queue.resume'),
    values: { sender },
  });
}

function queueTable(t: Translator, visit: Visit, all: readonly QueueTableRow[]): HtmlPart {
  return table(
    t('page.Queue'),
    [t('queue.recipient'), t('rule.sender'), t('domains.status'), ''],
    all.map((one) => [
      html`<a href="${visit.base}/queue/${one.queueId}">${address(one.to)}</a>`,
      [
        one.from === '' ? t('queue.bounce') : address(one.from),
        html` <span class="soft">${bytes(one.bytes, t)}</span>`,
      ],
      [
        one.state === 'held'
          ? tag(t('queue.state-held'), 'warn')
          : tag(t(one.attempts === 0 ? 'queue.state-queued' : 'queue.state-deferred')),
        html` <span class="soft">${t.english(one.explanation)}</span>`,
        one.untrusted.lastError !== null &&
          html` <span class="soft"
            >${t.rich('queue.remote-said', { text: html`<bdi>${one.untrusted.lastError}</bdi>` })}</span
          >`,
        html` <span class="soft">${sinceWhen(t, one)}</span>`,
        isAllowed(visit, 'trace_message') &&
          html` <a
            class="small"
            href="${visit.base}/trace?q=${one.messageId}"
            aria-label="${t('queue.timeline-of', { recipient: one.to })}"
            >${t('junk.timeline')}</a
          >`,
      ],
      queueButtons(t, visit, one),
    ]),
    t,
  );
}

function sinceWhen(t: Translator, { queuedAt, nextAttemptAt }: QueueTableRow): HtmlPart {
  const time = timestamp(queuedAt, t);
  if (nextAttemptAt === null) return t.rich('queue.since-time', { time });
  return t.rich('queue.since-next', { time, next: timestamp(nextAttemptAt, t) });
}

export function queueButtons(t: Translator, visit: Visit, { queueId, state, to }: QueueTableRow): HtmlPart {
  const values = { queueId };
  if (!isAllowed(visit, 'cancel_queue_item')) return undefined;
  return buttonRow(
    state === 'held'
      ? actionButton(visit, 'release', t('queue.release'), values)
      : [actionButton(visit, 'retry', t('queue.retry'), values), actionButton(visit, 'hold', t('queue.hold'), values)],
    confirmedAction(visit, 'cancel', {
      label: t('queue.cancel'),
      question: t('queue.cancel-question', { recipient: to }),
      yes: t('queue.cancel-button'),
      values,
    }),
  );
}

type Queued = OutputOf<typeof getQueueItem>;

/** One queued message: envelope, status and text. */
export const queuedMail: Page = {
  path: '/queue/:id',
  name: 'Queued mail',
  translated: true,
  menu: null,
  needs: 'get_queue_item',
  notices: {},
  actions: QUEUE_ACTIONS,
  async show(visit, state) {
    const { params } = state;
    const found = await readOperation<typeof getQueueItem>(visit, 'get_queue_item', { queueId: params['id'] ?? '' });
    if (found === undefined) return undefined;
    const { item, message } = found;
    const t = translatorOf(visit.request);
    return html`${backLink(`${visit.base}/queue`, t('page.Queue'))}
      ${pageHead(message.untrusted.subject === '' ? t('junk.no-subject') : message.untrusted.subject, undefined, queueButtons(t, visit, item))}
      ${envelope(t, found)}
      ${isAllowed(visit, 'trace_message') && deliveryLogLink(visit, item.messageId, t('page.Delivery log'))}
      <section>
        <h2>${t('approval.text')}</h2>
        ${
          message.untrusted.text === ''
            ? html`<p class="soft">${t('approval.no-text')}</p>`
            : html`<pre class="copy fold" tabindex="0" dir="auto">${message.untrusted.text}</pre>`
        }
        ${message.truncated && html`<p class="small soft">${t('queue.truncated')}</p>`}
      </section>
      ${attachments(t, message.untrusted.attachments)} ${await routeForm(t, visit, state, item)}`;
  },
};

/** Form to change the route; the current one is selected. */
async function routeForm(
  t: Translator,
  visit: Visit,
  state: PageState,
  { queueId, route }: Queued['item'],
): Promise<HtmlPart> {
  if (!isAllowed(visit, 'set_queue_route')) return undefined;
  const listed = isAllowed(visit, 'list_outbound_routes')
    ? await readOperation<typeof listRoutes>(visit, 'list_outbound_routes', {})
    : undefined;
  const choices = [
    { value: 'automatic', label: t('queue.automatic') },
    { value: 'direct', label: t('queue.direct') },
    ...(visit.context.settings.smarthost === undefined ? [] : [{ value: 'smarthost', label: t('queue.smarthost') }]),
    ...(listed?.routes ?? []).flatMap(({ routeId, host }) => (host === null ? [] : [{ value: routeId, label: host }])),
  ];
  const body = [
    hidden('queueId', queueId),
    select({ name: 'route', label: t('queue.route'), choices, value: route }, formStateFor(state, 'route')),
  ];
  return collapsedForm(visit, state, 'route', t('queue.change-route'), t('queue.change-button'), body);
}

function envelope(t: Translator, { item, message }: Queued): HtmlPart {
  return descriptionList([
    [t('domains.status'), [queueState(t, item), ' ', t.english(item.explanation)]],
    item.untrusted.lastError !== null && [t('queue.remote'), item.untrusted.lastError],
    [t('queue.state-queued'), timestamp(item.queuedAt, t)],
    [t('queue.recipient'), item.to],
    [t('rule.sender'), item.from === '' ? t('queue.this-server') : item.from],
    [t('approval.from'), message.untrusted.from],
    [t('approval.to'), message.untrusted.to],
    message.untrusted.cc !== '' && ['Cc', message.untrusted.cc],
    [t('mailboxes.size'), bytes(item.bytes, t)],
  ]);
}

function queueState(t: Translator, { state }: Queued['item']): HtmlPart {
  return tag(t(`queue.state-name-${state}`), state === 'held' ? 'warn' : '');
}

function attachments(t: Translator, all: Queued['message']['untrusted']['attachments']): HtmlPart {
  return (
    all.length > 0 &&
    html`<section>
      <h2>${t('approval.attachments')}</h2>
      <ul>
        ${all.map(({ filename, contentType }) => html`<li>${filename} <span class="soft">${contentType}</span></li>`)}
      </ul>
    </section>`
  );
}
