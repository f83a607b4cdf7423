import type { listSuppressionsOf } from '../../operations/sending/suppressions.ts';
import { field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, type Page, actionForm, type PageState, confirmedAction } from '../page.ts';
import { address, cursorOf, dateOnly, emptyState, pageHead, nextPage, table, tag } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type Suppression = OutputOf<typeof listSuppressionsOf>['suppressions'][number];

export const suppressions: Page = {
  path: '/suppressions',
  name: 'Suppressions',
  menu: 'Mail',
  needs: 'list_suppressions',
  notices: {
    added: 'Address suppressed. Programs no longer send to it.',
    removed: 'Suppression removed. If the address still bounces, it is suppressed again.',
  },
  actions: {
    add: operationAction('add_suppression', 'added', (fields) => ({ address: fields.line('address') ?? '' })),
    remove: operationAction('remove_suppression', 'removed', ['address']),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await readOperation<typeof listSuppressionsOf>(visit, 'list_suppressions', page);
    const all = listed?.suppressions ?? [];
    return html`${pageHead('Suppressions', 'Addresses that programs of this organization no longer send to. People with a mailbox still can.')}
    ${all.length === 0 ? NONE : listOf(visit, all)} ${nextPage(`${visit.base}/suppressions`, listed?.nextCursor)}
    ${isAllowed(visit, 'add_suppression') && form(visit, state)}`;
  },
};

const NONE = emptyState(
  'No suppressed addresses',
  'An address is suppressed after a hard bounce, a complaint or an unsubscribe request.',
);

const REASONS: Readonly<Record<Suppression['reason'], HtmlPart>> = {
  hard_bounce: tag('Bounced', 'warn'),
  complaint: tag('Complained', 'bad'),
  unsubscribe: tag('Unsubscribed'),
  manual: tag('Manual'),
};

function listOf(visit: Visit, all: readonly Suppression[]): HtmlPart {
  return table(
    'Suppressed addresses',
    ['Address', 'Reason', 'Since', 'Source', ''],
    all.map((one) => [
      address(one.address),
      REASONS[one.reason],
      dateOnly(one.since),
      html`${one.source}${one.untrusted.said !== '' && html`<br /><span class="small soft">${one.untrusted.said}</span>`}`,
      isAllowed(visit, 'remove_suppression') && removal(visit, one),
    ]),
  );
}

function removal(visit: Visit, { address: text, reason }: Suppression): HtmlPart {
  const wish = reason === 'complaint' || reason === 'unsubscribe';
  return confirmedAction(visit, 'remove', {
    label: 'Remove',
    question: wish
      ? `${text} asked to receive no more mail. Remove it only with their consent.`
      : `Programs may send to ${text} again.`,
    yes: 'Remove',
    values: { address: text },
  });
}

function form(visit: Visit, state: PageState): HtmlPart {
  const who = { name: 'address', label: 'Address', placeholder: 'anna@elsewhere.example' };
  return html`<section>
    <h2>Suppress an address</h2>
    ${actionForm(visit, 'add', 'Suppress address', field(who, formStateFor(state, 'add')))}
  </section>`;
}
