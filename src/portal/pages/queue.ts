import type { listQueueItems } from '../../operations/queue/list.ts';
import { html, type Part } from '../html.ts';
import { type Act, acting, type Page, press, sure } from '../page.ts';
import { acts, address, bytes, cursorOf, empty, head, moment, nextPage, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

export type Item = Answer<typeof listQueueItems>['items'][number];

const steer = (what: string, said: string): Act =>
  acting(
    `${what}_queue_item`,
    (fields) => ({ queueId: fields.text('queueId') }),
    (_result, visit) => ({ kind: 'done', said, to: `${visit.base}/queue` }),
  );

export const STEERING: Readonly<Record<string, Act>> = {
  release: steer('release', 'released'),
  retry: steer('retry', 'retried'),
  hold: steer('hold', 'held'),
  cancel: steer('cancel', 'cancelled'),
  route: acting(
    'set_queue_route',
    (fields) => ({ queueId: fields.text('queueId'), route: fields.text('route') }),
    (_result, visit) => ({ kind: 'done', said: 'rerouted', to: `${visit.base}/queue` }),
  ),
};

export const queue: Page = {
  path: '/queue',
  name: 'Queue',
  menu: 'Mail',
  needs: 'list_queue',
  done: {
    released: 'It was released, and is sent now.',
    retried: 'It is tried now.',
    held: 'It is held until you release it.',
    rerouted: 'It takes the other way; unless it is held it is tried now.',
    cancelled: 'It was taken out of the queue, and is never sent.',
  },
  acts: STEERING,
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await read<typeof listQueueItems>(visit, 'list_queue', page);
    const all = listed?.items ?? [];
    return html`${head('Queue', 'Mail that has not left yet, one line for each recipient, and why it waits.')}
    ${visit.world.hold !== null && LOCAL}
    ${all.length === 0 ? empty('Nothing waits', 'What was sent has left, or is in a mailbox here.') : queueTable(visit, all)}
    ${nextPage(`${visit.base}/queue`, listed?.nextCursor)}`;
  },
};

const LOCAL = html`<div class="note">
  <p>This server runs in local mode: it sends nothing to the world by itself. Release what shall go out.</p>
</div>`;

function queueTable(visit: Visit, all: readonly Item[]): Part {
  return table(
    'Queue',
    ['To', 'From', 'State', ''],
    all.map((one) => [
      html`<a href="${visit.base}/queue/${one.queueId}">${address(one.to)}</a>`,
      [one.from === '' ? 'a bounce' : address(one.from), html` <span class="soft">${bytes(one.bytes)}</span>`],
      [
        one.state === 'held' ? tag('held', 'warn') : tag(one.attempts === 0 ? 'waiting' : 'tried again soon'),
        html` <span class="soft">${one.explanation}</span>`,
        html` <span class="soft">Since ${moment(one.queuedAt)}${next(one)}</span>`,
      ],
      steering(visit, one),
    ]),
  );
}

function next({ nextAttemptAt }: Item): Part {
  return nextAttemptAt !== null && [', next try ', moment(nextAttemptAt)];
}

export function steering(visit: Visit, { queueId, state, to }: Item): Part {
  const values = { queueId };
  if (!can(visit, 'cancel_queue_item')) return undefined;
  return acts(
    state === 'held'
      ? press(visit, 'release', 'Release', values)
      : [press(visit, 'retry', 'Try now', values), press(visit, 'hold', 'Hold', values)],
    sure(visit, 'cancel', {
      label: 'Cancel',
      question: `The mail to ${to} is never sent, and nobody is told.`,
      yes: 'Cancel it',
      values,
    }),
  );
}
