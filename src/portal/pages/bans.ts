import type { listBansOfBox } from '../../operations/organization/bans.ts';
import { html, type Part } from '../html.ts';
import { acting, type Page, sure } from '../page.ts';
import { cursorOf, empty, head, moment, nextPage, table } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

type Ban = Answer<typeof listBansOfBox>['bans'][number];

/** For the operator of the box. */
export const bans: Page = {
  path: '/bans',
  name: 'Shut out',
  menu: 'This box',
  needs: 'list_bans',
  done: { lifted: 'The network may come in again.' },
  acts: {
    lift: acting(
      'remove_ban',
      (fields) => ({ address: fields.text('address') }),
      () => ({ kind: 'done', said: 'lifted' }),
    ),
  },
  async show(visit, { query }) {
    const listed = await read<typeof listBansOfBox>(visit, 'list_bans', cursorOf(query));
    const all = listed?.bans ?? [];
    return html`${head('Shut out', 'Networks that every door turns away for what they did. Each time lasts longer.')}
    ${all.length === 0 ? NONE : banTable(visit, all)} ${nextPage(`${visit.base}/bans`, listed?.nextCursor)}`;
  },
};

const NONE = empty(
  'Nobody is shut out',
  'A network comes here when it guesses passwords or addresses, looks for holes, or holds connections for nothing.',
);

function banTable(visit: Visit, all: readonly Ban[]): Part {
  return table(
    'Networks that are shut out',
    ['Network', 'What for', 'Until', ''],
    all.map(({ network, reason, times, since, until }) => [
      html`<code>${network}</code>`,
      [reason, times > 1 && html` <span class="soft">for the ${ordinal(times)} time within a month</span>`],
      [moment(until), html` <span class="soft">since ${moment(since)}</span>`],
      can(visit, 'remove_ban') &&
        sure(visit, 'lift', {
          label: 'Let in',
          question: `${network} may come in again, and what it did is forgotten.`,
          yes: 'Let it in',
          values: { address: network },
        }),
    ]),
  );
}

function ordinal(times: number): string {
  const rest = times % 100;
  const ending = rest >= 11 && rest <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][times % 10] ?? 'th');
  return `${times}${ending}`;
}
