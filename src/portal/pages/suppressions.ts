import type { listSuppressionsOf } from '../../operations/sending/suppressions.ts';
import { field } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, filledFor, type Page, sheet, type State, sure } from '../page.ts';
import { address, cursorOf, day, empty, head, nextPage, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

type Suppression = Answer<typeof listSuppressionsOf>['suppressions'][number];

export const suppressions: Page = {
  path: '/suppressions',
  name: 'Suppressed',
  menu: 'Mail',
  needs: 'list_suppressions',
  done: {
    added: 'Programs write to this address no more.',
    removed: 'Programs may write to this address again. If it still bounces, it comes back here.',
  },
  acts: {
    add: acting(
      'add_suppression',
      (fields) => ({ address: fields.line('address') ?? '' }),
      () => ({ kind: 'done', said: 'added' }),
    ),
    remove: acting(
      'remove_suppression',
      (fields) => ({ address: fields.text('address') }),
      () => ({ kind: 'done', said: 'removed' }),
    ),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await read<typeof listSuppressionsOf>(visit, 'list_suppressions', page);
    const all = listed?.suppressions ?? [];
    return html`${head('Suppressed', 'Programs of this organization write to these addresses no more. People with a mailbox still can.')}
    ${all.length === 0 ? NONE : listOf(visit, all)} ${nextPage(`${visit.base}/suppressions`, listed?.nextCursor)}
    ${can(visit, 'add_suppression') && form(visit, state)}`;
  },
};

const NONE = empty(
  'Nobody is suppressed',
  'An address comes here when its server says that it does not exist, when its owner complains, and when they unsubscribe.',
);

const REASONS: Readonly<Record<Suppression['reason'], Part>> = {
  hard_bounce: tag('does not exist', 'warn'),
  complaint: tag('complained', 'bad'),
  unsubscribe: tag('unsubscribed'),
  manual: tag('put here'),
};

function listOf(visit: Visit, all: readonly Suppression[]): Part {
  return table(
    'Suppressed addresses',
    ['Address', 'Why', 'Since', 'How it came to be', ''],
    all.map((one) => [
      address(one.address),
      REASONS[one.reason],
      day(one.since),
      html`${one.source}${one.untrusted.said !== '' && html`<br /><span class="small soft">${one.untrusted.said}</span>`}`,
      can(visit, 'remove_suppression') && removal(visit, one),
    ]),
  );
}

function removal(visit: Visit, { address: text, reason }: Suppression): Part {
  const wish = reason === 'complaint' || reason === 'unsubscribe';
  return sure(visit, 'remove', {
    label: 'Remove',
    question: wish
      ? `${text} asked to get no more mail. Only remove it when you have their word that they want it again.`
      : `Programs may write to ${text} again.`,
    yes: 'Remove it',
    values: { address: text },
  });
}

function form(visit: Visit, state: State): Part {
  const who = { name: 'address', label: 'Address', placeholder: 'anna@elsewhere.example' };
  return html`<section>
    <h2>Suppress an address</h2>
    ${sheet(visit, 'add', 'Suppress it', field(who, filledFor(state, 'add')))}
  </section>`;
}
