import type { getQueueItem } from '../../operations/queue/read.ts';
import { html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import { bytes, crumb, facts, head, moment, tag } from '../parts.ts';
import { type Answer, can, read } from '../visit.ts';
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
  async show(visit, { params }) {
    const found = await read<typeof getQueueItem>(visit, 'get_queue_item', { queueId: params['id'] ?? '' });
    if (found === undefined) return undefined;
    const { item, message } = found;
    return html`${crumb(`${visit.base}/queue`, 'Queue')}
      ${head(message.subject === '' ? 'Without a subject' : message.subject, undefined, steering(visit, item))}
      ${envelope(found)} ${can(visit, 'trace_message') && storyLink(visit, item.messageId)}
      <section>
        <h2>Text</h2>
        ${
          message.text === ''
            ? html`<p class="soft">There is no text in it.</p>`
            : html`<pre class="copy fold" tabindex="0" dir="auto">${message.text}</pre>`
        }
        ${message.truncated && html`<p class="small soft">It goes on; this is the beginning.</p>`}
      </section>
      ${attachments(message.attachments)}`;
  },
};

function envelope({ item, message }: Queued): Part {
  return facts([
    ['Waits', [tag(item.state, item.state === 'held' ? 'warn' : ''), ' ', item.explanation]],
    ['Since', moment(item.queuedAt)],
    ['Leaves for', item.to],
    ['Sent by', item.from === '' ? 'this server, as a bounce' : item.from],
    ['From', message.from],
    ['To', message.to],
    message.cc !== '' && ['Cc', message.cc],
    ['Size', bytes(item.bytes)],
  ]);
}

function attachments(all: Queued['message']['attachments']): Part {
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
