import type { listQueueItems } from '../../operations/queue/list.ts';
import type { listPausedSenders } from '../../operations/sending/paused-senders.ts';
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
    resumed: 'It may send again, and what was held for it goes out now.',
    released: 'It was released, and is sent now.',
    retried: 'It is tried now.',
    held: 'It is held until you release it.',
    rerouted: 'It takes the other way; unless it is held it is tried now.',
    cancelled: 'It was taken out of the queue, and is never sent.',
  },
  acts: {
    ...STEERING,
    resume: acting(
      'resume_sender',
      (fields) => ({ sender: fields.text('sender') }),
      () => ({ kind: 'done', said: 'resumed' }),
    ),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await read<typeof listQueueItems>(visit, 'list_queue', page);
    const all = listed?.items ?? [];
    return html`${head('Queue', 'Mail that has not left yet, one line for each recipient, and why it waits.')}
    ${visit.world.hold !== null && LOCAL} ${await pausedTable(visit)}
    ${all.length === 0 ? empty('Nothing waits', 'What was sent has left, or is in a mailbox here.') : queueTable(visit, all)}
    ${nextPage(`${visit.base}/queue`, listed?.nextCursor)}`;
  },
};

const LOCAL = html`<div class="note">
  <p>This server runs in local mode: it sends nothing to the world by itself. Release what shall go out.</p>
</div>`;

/** Who is paused, with the evidence; nothing while nobody is. */
async function pausedTable(visit: Visit): Promise<Part> {
  const listed = await read<typeof listPausedSenders>(visit, 'list_paused_senders', { limit: 100 });
  const all = listed?.senders ?? [];
  if (all.length === 0) return undefined;
  return html`<section>
    <h2>Paused</h2>
    <p>These suddenly sent what they never sent. Their mail is held; nothing is lost.</p>
    ${table(
      'Paused senders',
      ['Sender', 'Why', 'Since', ''],
      all.map((one) => [
        address(one.name === '' ? one.sender : one.name),
        one.why,
        moment(one.since),
        can(visit, 'resume_sender') && resumption(visit, one),
      ]),
    )}
  </section>`;
}

function resumption(visit: Visit, { sender, name }: { sender: string; name: string }): Part {
  return sure(visit, 'resume', {
    label: 'Let it go on',
    question: `${name} sends again, and all that was held for it goes out. Be sure that nobody else has its password, and cancel first what shall not go.`,
    yes: 'Let it go on',
    values: { sender },
  });
}

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
        one.untrusted.lastError !== null &&
          html` <span class="soft">They said: <bdi>${one.untrusted.lastError}</bdi></span>`,
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
