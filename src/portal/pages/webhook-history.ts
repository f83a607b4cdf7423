import type { listDeadWebhookDeliveries, listWebhookDeliveries } from '../../operations/sending/webhook-deliveries.ts';
import { html, type Part } from '../html.ts';
import { type Act, acting, type Params, press } from '../page.ts';
import { empty, moment, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

type Given = Readonly<Record<string, string | undefined>>;
type Delivery = Answer<typeof listWebhookDeliveries>['deliveries'][number];

const LOOKS = { told: ['told', 'ok'], later: ['tried again', 'warn'], dead: ['given up', 'bad'] } as const;
const SHOWN = 20;

/** What is done to a webhook of either kind; `which` says which one the page is about. */
export function historyActs(which: (params: Params) => Given): Readonly<Record<string, Act>> {
  return {
    replay: acting(
      'replay_webhook_delivery',
      (fields, params) => ({ ...which(params), deliveryId: fields.text('deliveryId') }),
      () => ({ kind: 'done', said: 'replayed' }),
    ),
    replayAll: acting(
      'replay_webhook_deliveries',
      (_fields, params) => ({ ...which(params), since: new Date(Date.now() - DAY_MS).toISOString() }),
      () => ({ kind: 'done', said: 'replayedAll' }),
    ),
    enable: acting(
      'enable_webhook',
      (_fields, params) => which(params),
      () => ({ kind: 'done', said: 'enabled' }),
    ),
  };
}

const DAY_MS = 24 * 3_600_000;

/** What is said after these acts. */
export const HISTORY_DONE = {
  replayed: 'It is told again.',
  replayedAll: 'What happened in the last 24 hours is told again.',
  enabled: 'The webhook is on. What has waited is told now, oldest first.',
  tested: 'The receiver took the test.',
  untaken: 'The receiver did not take the test yet: the deliveries below say why.',
};

/** The last attempts at a webhook, and what was given up. */
export async function history(visit: Visit, which: Given): Promise<Part> {
  const listed = await read<typeof listWebhookDeliveries>(visit, 'list_webhook_deliveries', { ...which, limit: SHOWN });
  const dead = await read<typeof listDeadWebhookDeliveries>(visit, 'list_dead_webhook_deliveries', {
    ...which,
    limit: SHOWN,
  });
  const deliveries = listed?.deliveries ?? [];
  return html`<section>
    <h3>Deliveries</h3>
    ${deliveries.length === 0 ? NONE : attempts(visit, deliveries)}
    ${deliveries.length > 0 && can(visit, 'replay_webhook_deliveries') && press(visit, 'replayAll', 'Tell the last 24 hours again', {}, 'quiet')}
    ${(dead?.deliveries.length ?? 0) > 0 && givenUp(visit, dead?.deliveries ?? [])}
  </section>`;
}

const NONE = empty('Nothing was delivered yet', 'Each attempt is listed here, with what the receiver answered.');

function attempts(visit: Visit, deliveries: readonly Delivery[]): Part {
  return table(
    'Deliveries',
    ['When', 'What', 'How', 'Answer', ''],
    deliveries.map((one) => {
      const [name, look] = LOOKS[one.outcome];
      return [
        moment(one.at),
        html`<code>${one.type}</code>`,
        tag(name, look),
        html`${one.httpStatus ?? 'no answer'}, ${one.durationMs} ms${one.problem !== null && `: ${one.problem}`}
        ${
          one.untrusted.response !== '' &&
          html`<details class="small">
            <summary>How it begins</summary>
            <code>${one.untrusted.response}</code>
          </details>`
        }`,
        again(visit, one.deliveryId),
      ];
    }),
  );
}

function givenUp(visit: Visit, dead: Answer<typeof listDeadWebhookDeliveries>['deliveries']): Part {
  return html`<h3>Given up</h3>
    <p class="small soft">Tried for 32 hours and kept for 30 days.</p>
    ${table(
      'Given up',
      ['When', 'What', 'Attempts', ''],
      dead.map((one) => [moment(one.at), html`<code>${one.type}</code>`, one.attempts, again(visit, one.deliveryId)]),
    )}`;
}

function again(visit: Visit, deliveryId: string): Part {
  return can(visit, 'replay_webhook_delivery') && press(visit, 'replay', 'Tell again', { deliveryId }, 'text');
}
