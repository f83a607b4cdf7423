import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formToken, isFormToken } from '../people/secrets.ts';
import {
  type PageExchange,
  type PortalDeps,
  redirect,
  sendPage,
  sendMessagePage,
  sendStaleForm,
  type Visitor,
  visitorOf,
} from './page-exchange.ts';
import { problemNote, EMPTY_FORM } from './forms.ts';
import { Fields } from './form-fields.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { fullPage, type PageFrame } from './layout.ts';
import type { Page, Params, PageState } from './page.ts';
import { PAGES } from './pages/index.ts';
import { agentCalls } from './agent-calls.ts';
import { finderPage } from './finder-routes.ts';
import { ENGLISH, type Translator, translatorOf } from './translator.ts';
import { isAllowed, pathOf, type Visit, visitOf } from './visit.ts';

/** The pages of organizations, `/o/{id}` and below. */
export function organizationRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    for (const page of [...PAGES, finderPage]) {
      app.get(`/o/:org${page.path}`, (request, reply) => open({ ...deps, request, reply }, page, show));
      app.post(`/o/:org${page.path}`, (request, reply) => open({ ...deps, request, reply }, page, act));
    }
    app.get('/o/*', async (request, reply) => missing({ ...deps, request, reply }));
  };
}

type Handler = (visit: Visit, page: Page, params: Params) => Promise<FastifyReply>;

/** Requires a signed-in member. Foreign and unknown organizations get the same 404. */
async function open(exchange: PageExchange, page: Page, handle: Handler): Promise<FastifyReply> {
  const visitor = await visitorOf(exchange);
  if (visitor === undefined) return redirect(exchange, `/login?next=${encodeURIComponent(pathname(exchange))}`);
  const params = exchange.request.params as Params;
  const visit = await visitOf(exchange, visitor, params['org'] ?? '');
  return visit === undefined || !isFor(visit, page) ? missing(exchange) : handle(visit, page, params);
}

function isFor(visit: Visit, page: Page): boolean {
  return isAllowed(visit, page.needs) && !(page.notForMembers === true && visit.membership.role === 'member');
}

/** Path of the request, never another host (the request line may be absolute). */
function pathname({ request }: PageExchange): string {
  const path = request.url.split('?', 1)[0] ?? '';
  return path.startsWith('/o/') ? path : '/';
}

export function missing(exchange: PageExchange): FastifyReply {
  const t = translatorOf(exchange.request);
  const notice = {
    title: t('error.not-found'),
    text: t('error.not-found-text'),
    href: '/',
    link: t('error.dashboard'),
  };
  return sendMessagePage(exchange, notice, 404);
}

async function show(visit: Visit, page: Page, params: Params): Promise<FastifyReply> {
  const query = visit.request.query as Record<string, unknown>;
  const notice = typeof query['done'] === 'string' ? page.notices[query['done']] : undefined;
  const t = translatorFor(visit, page);
  const text = typeof notice === 'string' ? t.english(notice) : notice && t(notice.message);
  const note = text !== undefined && html`<div class="note" role="status"><p>${text}</p></div>`;
  return render(visit, page, { params, query, form: EMPTY_FORM }, note, 200);
}

async function act(visit: Visit, page: Page, params: Params): Promise<FastifyReply> {
  const fields = new Fields(visit.request.body);
  if (!isFormToken(fields.text('form'), visit.visitor.secret)) return sendStaleForm(visit, pathname(visit));
  const name = fields.text('do');
  const action = Object.hasOwn(page.actions, name) ? page.actions[name] : undefined;
  if (action === undefined) return missing(visit);
  const done = await action(visit, fields, params);
  const query = visit.request.query as Record<string, unknown>;
  switch (done.kind) {
    case 'done':
      return redirect(visit, `${done.to ?? pathname(visit)}?done=${done.notice}`);
    case 'shown':
      return render(visit, page, { params, query, form: EMPTY_FORM }, done.panel, 200);
    case 'refused': {
      const state = { params, query, action: name, form: refusedIn(translatorFor(visit, page), done.form) };
      return render(visit, page, state, problemNote(problemOf(translatorFor(visit, page), state)), 422);
    }
  }
}

/** Translator of a page: English for those that are not translated. */
function translatorFor({ request }: Visit, { translated }: Page): Translator {
  return translated === true ? translatorOf(request) : ENGLISH;
}

/** A refused form. What an operation says is English: pages in other languages mark it. */
function refusedIn({ language }: Translator, form: PageState['form']): PageState['form'] {
  return language === 'en' ? { ...form, errorLanguage: undefined } : form;
}

/** Shows the first field error above the form too: a one-button form has no fields. */
function problemOf({ language }: Translator, { form: formState }: PageState): PageState['form'] {
  const [first] = Object.values(formState.errors);
  return formState.problem === undefined && first !== undefined
    ? { ...formState, problem: language === 'en' ? `No changes made: ${first}` : first }
    : formState;
}

async function render(
  visit: Visit,
  page: Page,
  state: PageState,
  above: HtmlPart,
  status: number,
): Promise<FastifyReply> {
  const body: HtmlPart = await page.show(visit, state);
  if (body === undefined) return missing(visit);
  const inside = { visit, page, counts: await countsOf(visit) };
  return sendPage(
    visit,
    fullPage(frameOf(inside), [above, body, agentCalls(translatorFor(visit, page), visit, page, state)] as Html[]),
    status,
    true,
  );
}

/** The page being rendered. */
interface OpenPage {
  visit: Visit;
  page: Page;
  /** Pending items by path of the page. */
  counts: ReadonlyMap<string, number>;
}

async function countsOf(visit: Visit): Promise<Map<string, number>> {
  const counted = PAGES.filter((page) => page.count !== undefined && isFor(visit, page));
  return new Map(
    await Promise.all(counted.map(async (page) => [page.path, (await page.count?.(visit)) ?? 0] as const)),
  );
}

/** Header and menu for a page of an organization. */
function frameOf(inside: OpenPage): PageFrame {
  const { visit, page } = inside;
  const untranslated = page.translated !== true;
  const name = untranslated ? page.name : translatorOf(visit.request)(`page.${page.name}`);
  const title = `${name} - ${visit.membership.name}`;
  return { ...pageFrame(visit.request, visit.visitor, title, inside), untranslated };
}

/** Header and menu for a page. */
export function pageFrame(request: FastifyRequest, visitor: Visitor, title: string, inside?: OpenPage): PageFrame {
  const { person, memberships, secret } = visitor;
  const visit = inside?.visit;
  return {
    title,
    request,
    person: person.displayName ?? person.email,
    formToken: formToken(secret),
    searchPath: visit === undefined ? undefined : `${visit.base}/find`,
    organizations: memberships
      .filter((one) => !one.frozen)
      .map(({ name, organization }) => ({
        name,
        href: pathOf(organization),
        here: organization === visit?.membership.organization,
      })),
    menu: inside === undefined ? [] : menuOf(inside),
  };
}

function menuOf({ visit, page: present, counts }: OpenPage): PageFrame['menu'] {
  const shown = PAGES.filter((one) => one.menu !== null && isFor(visit, one));
  const t = translatorOf(visit.request);
  return (['Mail', 'Programs', 'Organization', 'This server'] as const).map((heading) => ({
    heading: t(`heading.${heading}`),
    links: shown
      .filter((one) => one.menu === heading)
      .map(({ name, path }) => ({
        name: t(`page.${name}`),
        href: `${visit.base}${path}`,
        here: path === present.path || (path !== '' && present.path.startsWith(`${path}/`)),
        count: counts.get(path) ?? 0,
      })),
  }));
}
