import type { FastifyReply, FastifyRequest } from 'fastify';
import type { World } from '../operations/world.ts';
import type { PeopleDesk } from '../people/desk.ts';
import { hashOf } from '../people/secrets.ts';
import {
  findVisitor,
  type Membership,
  type Person,
  SESSION_GRAIN_MS,
  type Session,
  touchSession,
} from '../people/session-commands.ts';
import { beginSession } from '../people/sessions.ts';
import { clearSession, sessionSecret, setSession } from './cookie.ts';
import { pageHeaders } from './guard.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';

/** What the handlers of pages work with. */
export interface Door {
  readonly world: World;
  readonly desk: PeopleDesk;
}

/** One request for a page. */
export interface Asked extends Door {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Who is signed in on this request. */
export interface Visitor {
  readonly session: Session;
  readonly person: Person;
  readonly memberships: readonly Membership[];
  /** What the cookie carries: forms are bound to it. */
  readonly secret: string;
}

/** The visitor of a request, whose session is good for two more hours by it. */
export async function visitorOf({ world, request }: Asked): Promise<Visitor | undefined> {
  const secret = sessionSecret(request);
  const hash = hashOf(secret);
  if (secret === undefined || hash === undefined) return undefined;
  const now = world.clock();
  const found = await world.store.read(findVisitor, { hash, now });
  if (found === undefined) return undefined;
  if (now - found.session.lastUsedAt > SESSION_GRAIN_MS) {
    await world.store.write(touchSession, { id: found.session.id });
  }
  return { ...found, secret };
}

/** Signs somebody in on this browser, under a new secret whatever it came with. */
export async function signIn({ world, request, reply }: Asked, user: number): Promise<void> {
  const before = hashOf(sessionSecret(request)) ?? null;
  const agent = request.headers['user-agent'] ?? '';
  setSession(request, reply, await beginSession(world, user, { ip: request.ip, agent, before }));
}

export function signOut({ request, reply }: Asked): void {
  clearSession(request, reply);
}

/** Sends a page. */
export function send({ reply }: Asked, page: string, status = 200, fromLink = false): FastifyReply {
  pageHeaders(reply, fromLink);
  return reply.code(status).send(page);
}

/** After a form: the answer is another page, so that loading it again sends nothing again. */
export function go({ reply }: Asked, path: string): FastifyReply {
  pageHeaders(reply);
  return reply.code(303).header('location', path).send('');
}

/** A page that says one thing, with one way on. */
export function sendNotice(
  asked: Asked,
  notice: { title: string; text: string; href: string; link: string },
  status = 200,
): FastifyReply {
  const body = html`<h1>${notice.title}</h1>
    <p>${notice.text}</p>
    <p><a class="button" href="${notice.href}">${notice.link}</a></p>`;
  const fromLink = asked.request.url.includes('token=');
  return send(asked, narrowPage({ title: notice.title, body, fromLink }), status, fromLink);
}
