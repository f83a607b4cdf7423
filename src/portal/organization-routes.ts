import type { FastifyInstance, FastifyReply } from 'fastify';
import { formToken, isFormToken } from '../people/secrets.ts';
import { type Asked, type Door, go, send, sendNotice, type Visitor, visitorOf } from './door.ts';
import { problemNote, UNFILLED } from './forms.ts';
import { Fields } from './guard.ts';
import { type Html, html, type Part } from './html.ts';
import { fullPage, type Surroundings } from './layout.ts';
import type { Page, Params, State } from './page.ts';
import { PAGES } from './pages/index.ts';
import { can, pathOf, type Visit, visitOf } from './visit.ts';

/** The pages of organizations, `/o/{id}` and below. */
export function organizationRoutes(door: Door): (app: FastifyInstance) => void {
  return (app) => {
    for (const page of PAGES) {
      app.get(`/o/:org${page.path}`, (request, reply) => open({ ...door, request, reply }, page, show));
      app.post(`/o/:org${page.path}`, (request, reply) => open({ ...door, request, reply }, page, act));
    }
    app.get('/o/*', async (request, reply) => missing({ ...door, request, reply }));
  };
}

type Handler = (visit: Visit, page: Page, params: Params) => Promise<FastifyReply>;

/** Lets in who is signed in and belongs to the organization; what is foreign and what does not exist look alike. */
async function open(asked: Asked, page: Page, handle: Handler): Promise<FastifyReply> {
  const visitor = await visitorOf(asked);
  if (visitor === undefined) return go(asked, `/login?next=${encodeURIComponent(pathname(asked))}`);
  const params = asked.request.params as Params;
  const visit = await visitOf(asked, visitor, params['org'] ?? '');
  return visit === undefined || !isFor(visit, page) ? missing(asked) : handle(visit, page, params);
}

function isFor(visit: Visit, page: Page): boolean {
  return can(visit, page.needs) && !(page.notForMembers === true && visit.membership.role === 'member');
}

/** Where the request leads, below this host whatever its first line said. */
function pathname({ request }: Asked): string {
  const path = request.url.split('?', 1)[0] ?? '';
  return path.startsWith('/o/') ? path : '/';
}

export function missing(asked: Asked): FastifyReply {
  const text = 'There is no such page, or it is not of an organization that you belong to.';
  return sendNotice(asked, { title: 'Nothing is here', text, href: '/', link: 'To where you belong' }, 404);
}

async function show(visit: Visit, page: Page, params: Params): Promise<FastifyReply> {
  const query = visit.request.query as Record<string, unknown>;
  const said = typeof query['done'] === 'string' ? page.done[query['done']] : undefined;
  const note = said !== undefined && html`<div class="note" role="status"><p>${said}</p></div>`;
  return render(visit, page, { params, query, filled: UNFILLED }, note, 200);
}

async function act(visit: Visit, page: Page, params: Params): Promise<FastifyReply> {
  const fields = new Fields(visit.request.body);
  if (!isFormToken(fields.text('form'), visit.visitor.secret)) return staleForm(visit);
  const name = fields.text('do');
  const action = Object.hasOwn(page.acts, name) ? page.acts[name] : undefined;
  if (action === undefined) return missing(visit);
  const done = await action(visit, fields, params);
  const query = visit.request.query as Record<string, unknown>;
  switch (done.kind) {
    case 'done':
      return go(visit, `${done.to ?? pathname(visit)}?done=${done.said}`);
    case 'shown':
      return render(visit, page, { params, query, filled: UNFILLED }, done.panel, 200);
    case 'refused': {
      const state = { params, query, act: name, filled: done.filled };
      return render(visit, page, state, problemNote(problemOf(state)), 422);
    }
  }
}

/** A form that shows no fields of its own has its errors above. */
function problemOf({ filled }: State): State['filled'] {
  const [first] = Object.values(filled.errors);
  return filled.problem === undefined && first !== undefined ? { ...filled, problem: `Not done: ${first}` } : filled;
}

function staleForm(asked: Asked): FastifyReply {
  const text = 'The form was older than your sign-in. Go back, load the page again and repeat what you did.';
  return sendNotice(
    asked,
    { title: 'Nothing was done', text, href: pathname(asked), link: 'Load the page again' },
    403,
  );
}

async function render(visit: Visit, page: Page, state: State, above: Part, status: number): Promise<FastifyReply> {
  const body: Part = await page.show(visit, state);
  if (body === undefined) return missing(visit);
  const inside = { visit, page, counts: await countsOf(visit) };
  return send(visit, fullPage(around(visit.visitor, page.name, inside), [above, body] as Html[]), status);
}

/** A page of an organization that is shown now. */
interface Inside {
  visit: Visit;
  page: Page;
  /** By path, what waits on other pages. */
  counts: ReadonlyMap<string, number>;
}

async function countsOf(visit: Visit): Promise<Map<string, number>> {
  const counted = PAGES.filter((page) => page.count !== undefined && isFor(visit, page));
  return new Map(
    await Promise.all(counted.map(async (page) => [page.path, (await page.count?.(visit)) ?? 0] as const)),
  );
}

/** What stands around a page: where else the person belongs, and what else there is. */
export function around(visitor: Visitor, title: string, inside?: Inside): Surroundings {
  const { person, memberships, secret } = visitor;
  const visit = inside?.visit;
  return {
    title: visit === undefined ? title : `${title} - ${visit.membership.name}`,
    person: person.displayName ?? person.email,
    formToken: formToken(secret),
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

function menuOf({ visit, page: present, counts }: Inside): Surroundings['menu'] {
  const shown = PAGES.filter((one) => one.menu !== null && isFor(visit, one));
  return (['Mail', 'Programs', 'Organization', 'This box'] as const).map((heading) => ({
    heading,
    links: shown
      .filter((one) => one.menu === heading)
      .map(({ name, path }) => ({
        name,
        href: `${visit.base}${path}`,
        here: path === present.path || (path !== '' && present.path.startsWith(`${path}/`)),
        count: counts.get(path) ?? 0,
      })),
  }));
}
