import type { listBansOfBox } from '../../operations/organization/bans.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, type Page, confirmedAction } from '../page.ts';
import { cursorOf, emptyState, pageHead, timestamp, nextPage, table } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type Ban = OutputOf<typeof listBansOfBox>['bans'][number];

/** For the operator of the box. */
export const blockedNetworks: Page = {
  path: '/bans',
  name: 'Blocked networks',
  menu: 'This server',
  needs: 'list_bans',
  notices: { lifted: 'Network unblocked.' },
  actions: {
    lift: operationAction('remove_ban', 'lifted', ['address']),
  },
  async show(visit, { query }) {
    const listed = await readOperation<typeof listBansOfBox>(visit, 'list_bans', cursorOf(query));
    const all = listed?.bans ?? [];
    return html`${pageHead('Blocked networks', 'Networks that all listeners refuse. Each repeated block lasts longer.')}
    ${all.length === 0 ? NONE : banTable(visit, all)} ${nextPage(`${visit.base}/bans`, listed?.nextCursor)}`;
  },
};

const NONE = emptyState(
  'No blocked networks',
  'A network is blocked for guessing passwords or addresses, scanning for vulnerabilities, or idle connections.',
);

function banTable(visit: Visit, all: readonly Ban[]): HtmlPart {
  return table(
    'Blocked networks',
    ['Network', 'Reason', 'Expires', ''],
    all.map(({ network, reason, times, since, until }) => [
      html`<code>${network}</code>`,
      [reason, times > 1 && html` <span class="soft">${ordinal(times)} block within a month</span>`],
      [timestamp(until), html` <span class="soft">since ${timestamp(since)}</span>`],
      isAllowed(visit, 'remove_ban') &&
        confirmedAction(visit, 'lift', {
          label: 'Unblock',
          question: `${network} may connect again, and its offences are cleared.`,
          yes: 'Unblock',
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
