import type { listBansOfBox } from '../../operations/organization/bans.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, type Page, confirmedAction } from '../page.ts';
import { cursorOf, emptyState, pageHead, timestamp, nextPage, table } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type Ban = OutputOf<typeof listBansOfBox>['bans'][number];

/** For the operator of the box. */
export const blockedNetworks: Page = {
  path: '/bans',
  name: 'Blocked networks',
  translated: true,
  menu: 'This server',
  needs: 'list_bans',
  notices: { lifted: { message: 'ban.lifted' } },
  actions: {
    lift: operationAction('remove_ban', 'lifted', ['address']),
  },
  async show(visit, { query }) {
    const listed = await readOperation<typeof listBansOfBox>(visit, 'list_bans', cursorOf(query));
    const all = listed?.bans ?? [];
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Blocked networks'), t('ban.about'))}
    ${all.length === 0 ? emptyState(t('ban.none'), t('ban.none-text')) : banTable(t, visit, all)}
    ${nextPage(`${visit.base}/bans`, listed?.nextCursor, t)}`;
  },
};

function banTable(t: Translator, visit: Visit, all: readonly Ban[]): HtmlPart {
  return table(
    t('page.Blocked networks'),
    [t('ban.network'), t('approvals.reason'), t('approval.expires'), ''],
    all.map(({ network, reason, times, since, until }) => [
      html`<code>${network}</code>`,
      [t.english(reason), times > 1 && html` <span class="soft">${timesText(t, times)}</span>`],
      [timestamp(until, t), html` <span class="soft">${t.rich('devices.since', { time: timestamp(since, t) })}</span>`],
      isAllowed(visit, 'remove_ban') &&
        confirmedAction(visit, 'lift', {
          label: t('ban.lift'),
          question: t('ban.lift-question', { network }),
          yes: t('ban.lift'),
          values: { address: network },
        }),
    ]),
    t,
  );
}

function timesText(t: Translator, times: number): string {
  return t('ban.times', { number: t.language === 'en' ? ordinal(times) : String(times) });
}

function ordinal(times: number): string {
  const rest = times % 100;
  const ending = rest >= 11 && rest <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][times % 10] ?? 'th');
  return `${times}${ending}`;
}
