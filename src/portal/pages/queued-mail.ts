import type { listRoutes } from '../../operations/queue/routes.ts';
import type { getQueueItem } from '../../operations/queue/read.ts';
import { hidden, select } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { filledFor, more, type Page, type State } from '../page.ts';
import { bytes, crumb, facts, head, moment, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';
import { STEERING, steering } from './queue.ts';
import { storyLink } from './trace.ts';

type Queued = Answer<typeof getQueueItem>;

/** One mail that waits: who, what and why. */
export const queuedMail: Page = {
  path: '/queue/:id',
  name: 'Queued mail',
  menu: null,
  needs: 'get_queue_item',
  done: {},
  acts: STEERING,
  async show(visit, state) {
    const { params } = state;
    const found = await read<typeof getQueueItem>(visit, 'get_queue_item', { queueId: params['id'] ?? '' });
    if (found === undefined) return undefined;
    const { item, message } = found;
    return html`${crumb(`${visit.base}/queue`, 'Queue')}
      ${head(message.untrusted.subject === '' ? 'Without a subject' : message.untrusted.subject, undefined, steering(visit, item))}
      ${envelope(found)} ${can(visit, 'trace_message') && storyLink(visit, item.messageId)}
      <section>
        <h2>Text</h2>
        ${
          message.untrusted.text === ''
            ? html`<p class="soft">There is no text in it.</p>`
            : html`<pre class="copy fold" tabindex="0" dir="auto">${message.untrusted.text}</pre>`
        }
        ${message.truncated && html`<p class="small soft">It goes on; this is the beginning.</p>`}
      </section>
      ${attachments(message.untrusted.attachments)} ${await otherWay(visit, state, item)}`;
  },
};

/** The ways that it could take, with the one that it takes now chosen. */
async function otherWay(visit: Visit, state: State, { queueId, route }: Queued['item']): Promise<Part> {
  if (!can(visit, 'set_queue_route')) return undefined;
  const listed = can(visit, 'list_outbound_routes')
    ? await read<typeof listRoutes>(visit, 'list_outbound_routes', {})
    : undefined;
  const choices = [
    { value: 'automatic', label: 'As the routes say' },
    { value: 'direct', label: 'Directly to the mail servers of the receiver' },
    ...(visit.world.settings.smarthost === undefined
      ? []
      : [{ value: 'smarthost', label: 'By the smarthost of this server' }]),
    ...(listed?.routes ?? []).flatMap(({ routeId, host }) =>
      host === null ? [] : [{ value: routeId, label: `By ${host}` }],
    ),
  ];
  const body = [
    hidden('queueId', queueId),
    select({ name: 'route', label: 'Way', choices, value: route }, filledFor(state, 'route')),
  ];
  return more(visit, state, 'route', 'Send it another way', 'Send it this way', body);
}

function envelope({ item, message }: Queued): Part {
  return facts([
    ['Waits', [tag(item.state, item.state === 'held' ? 'warn' : ''), ' ', item.explanation]],
    item.untrusted.lastError !== null && ['They said', item.untrusted.lastError],
    ['Since', moment(item.queuedAt)],
    ['Leaves for', item.to],
    ['Sent by', item.from === '' ? 'this server, as a bounce' : item.from],
    ['From', message.untrusted.from],
    ['To', message.untrusted.to],
    message.untrusted.cc !== '' && ['Cc', message.untrusted.cc],
    ['Size', bytes(item.bytes)],
  ]);
}

function attachments(all: Queued['message']['untrusted']['attachments']): Part {
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
