import type { FastifyInstance, FastifyReply } from 'fastify';
import { emptyState, pageHead, table } from './components.ts';
import { findInOrganization } from './finder.ts';
import { EMPTY_FORM, field } from './forms.ts';
import { pageHeaders } from './page-headers.ts';
import { html, type HtmlPart } from './html.ts';
import type { PageExchange, PortalDeps } from './page-exchange.ts';
import { visitorOf } from './page-exchange.ts';
import type { Page, Params } from './page.ts';
import { type Translator, translatorOf } from './translator.ts';
import { visitOf } from './visit.ts';

/** Search of the portal as a page, for browsers without scripts. */
export const finderPage: Page = {
  path: '/find',
  name: 'Search',
  translated: true,
  menu: null,
  needs: 'list_emails',
  notices: {},
  actions: {},
  calls: (_visit, { query }) => [
    { name: 'list_emails', arguments: { query: textOf(query['q']) } },
    { name: 'search_tools', arguments: { query: textOf(query['q']) } },
  ],
  async show(visit, { query }) {
    const words = textOf(query['q']);
    const t = translatorOf(visit.request);
    const title = t('page.Search');
    return html`${pageHead(title)}
      <form class="sheet" method="get" action="${visit.base}/find">
        ${field({ name: 'q', label: title, value: words, hint: t('find.hint'), autocomplete: 'off' }, EMPTY_FORM)}
        <button>${t('find.button')}</button>
      </form>
      <section>${await results(t, visit, words)}</section>`;
  },
};

async function results(t: Translator, visit: Parameters<Page['show']>[0], words: string): Promise<HtmlPart> {
  const found = await findInOrganization(visit, words);
  if (found.length === 0) return emptyState(t('find.nothing'), t('find.nothing-text'));
  return table(
    t('find.results'),
    [t('find.result'), t('find.kind')],
    found.map(({ kind, label, detail, href, english }) => [
      [
        html`<a href="${href}" ${english === true && html`lang="en"`}>${label}</a>`,
        detail !== '' && html` <span class="soft">${detail}</span>`,
      ],
      kind,
    ]),
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 320) : '';
}

/** `/o/{id}/find.json`: the results for the command palette. */
export function finderRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/o/:org/find.json', (request, reply) => sendResults({ ...deps, request, reply }));
  };
}

async function sendResults(exchange: PageExchange): Promise<FastifyReply> {
  const { request, reply } = exchange;
  pageHeaders(reply);
  void reply.type('application/json; charset=utf-8');
  const visitor = await visitorOf(exchange);
  const { org = '' } = request.params as Params;
  const visit = visitor === undefined ? undefined : await visitOf(exchange, visitor, org);
  if (visit === undefined) return reply.code(404).send({ error: 'not_found', message: 'Sign in and try again.' });
  const { q } = request.query as Record<string, unknown>;
  return reply.send({ results: await findInOrganization(visit, textOf(q)) });
}
