import { countByAccount } from '../http/connection-guard.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppContext } from '../core/app-context.ts';
import { factorRequiredBy } from '../people/rule-commands.ts';
import type { SignInMethod } from '../people/factor-commands.ts';
import { type Browser, type SignIn, startSignIn } from '../people/sign-in.ts';
import { hashOf, isFormToken } from '../people/secrets.ts';
import {
  findVisitor,
  type Membership,
  type Person,
  SESSION_GRAIN_MS,
  type PortalSession,
  touchSession,
} from '../people/session-commands.ts';
import { clearSession, deviceOf, sessionSecret, setSession, setStep } from './session-cookie.ts';
import { Fields } from './form-fields.ts';
import { pageHeaders } from './page-headers.ts';
import type { OpenIdProvider } from '../single-sign-on/openid-provider.ts';
import { html, type HtmlPart } from './html.ts';
import { narrowPage } from './layout.ts';
import { translatorOf } from './translator.ts';

/** Dependencies of the page handlers. */
export interface PortalDeps {
  readonly context: AppContext;
  readonly people: SignIn;
  /** OpenID provider of the server, if there is one. */
  readonly provider: OpenIdProvider | undefined;
}

/** Header of requests that a script of a page sends by itself, without an action of the visitor. */
const REFRESH_HEADER = 'x-page-refresh';

/** One page request with its reply. */
export interface PageExchange extends PortalDeps {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The part of an exchange that names its visitor. */
type VisitRequest = Pick<PageExchange, 'context' | 'request'>;

/** The signed-in person with session and memberships. */
export interface Visitor {
  readonly session: PortalSession;
  readonly person: Person;
  readonly memberships: readonly Membership[];
  /** Organizations that this session does not open: they need another way to sign in. */
  readonly closed: readonly Membership[];
  /** Secret of the session cookie; CSRF tokens of forms derive from it. */
  readonly secret: string;
}

/**
 * Finds the signed-in visitor; a request of their own extends the session's idle timeout. Undefined also for people who must set up a second factor
 * first: they see {@link visitorToEnroll}'s page only.
 */
export async function visitorOf(exchange: VisitRequest): Promise<Visitor | undefined> {
  const visitor = await visitorToEnroll(exchange);
  return visitor === undefined || mustEnroll(visitor) ? undefined : visitor;
}

/** True for a person without the second factor that one of their organizations requires. */
export function mustEnroll({ person, memberships }: Visitor): boolean {
  return !person.secondFactor && factorRequiredBy(memberships).length > 0;
}

/** Finds the visitor, for the pages that people without a required second factor may use. */
export async function visitorToEnroll({ context, request }: VisitRequest): Promise<Visitor | undefined> {
  const secret = sessionSecret(request);
  const hash = hashOf(secret);
  if (secret === undefined || hash === undefined) return undefined;
  const now = context.clock();
  const found = await context.store.read(findVisitor, { hash, now });
  if (found === undefined) return undefined;
  countByAccount(request.raw, `user ${found.person.id}`);
  // A page that fetches itself again while nobody is there must not keep the session from its idle timeout.
  const isRefresh = request.headers[REFRESH_HEADER] !== undefined;
  if (!isRefresh && now - found.session.lastUsedAt > SESSION_GRAIN_MS) {
    await context.store.write(touchSession, { id: found.session.id });
  }
  return { ...found, secret };
}

/**
 * Starts a session with a new secret, never the presented one (session fixation), or the second step for people who have a second
 * factor. Returns the path of the next page.
 */
export async function signIn(
  exchange: PageExchange,
  user: number,
  { method, next }: { method: SignInMethod; next: string },
): Promise<string> {
  const { context, request, reply } = exchange;
  const { kind, secret } = await startSignIn(context, { user, method, next }, browserOf(exchange));
  if (kind === 'in') {
    setSession(request, reply, secret);
    return next;
  }
  setStep(request, reply, secret);
  return '/login/step';
}

/** Browser of a request, with its present session, which a new one replaces. */
export function browserOf({ request }: PageExchange): Browser {
  const before = hashOf(sessionSecret(request)) ?? null;
  return { ip: request.ip, agent: request.headers['user-agent'] ?? '', before, device: deviceOf(request).hash };
}

export function signOut({ request, reply }: PageExchange): void {
  clearSession(request, reply);
}

/** Sends a page. */
export function sendPage({ reply }: PageExchange, page: string, status = 200, withScript = false): FastifyReply {
  pageHeaders(reply, withScript);
  return reply.code(status).send(page);
}

/** Redirects after a form (303), so that a reload does not submit it again. */
export function redirect({ reply }: PageExchange, path: string): FastifyReply {
  pageHeaders(reply);
  return reply.code(303).header('location', path).send('');
}

/** Reads the form of a signed-in visitor; undefined if it is not of this session: the refusal is sent. */
export function ownForm(exchange: PageExchange, visitor: Visitor, href: string): Fields | undefined {
  const fields = new Fields(exchange.request.body);
  if (isFormToken(fields.text('form'), visitor.secret)) return fields;
  sendStaleForm(exchange, href);
  return undefined;
}

/** Refuses a form that another sign-in of this browser wrote. */
export function sendStaleForm(exchange: PageExchange, href: string): FastifyReply {
  const t = translatorOf(exchange.request);
  const notice = { title: t('error.no-changes'), text: t('error.stale-form'), href, link: t('button.reload') };
  return sendMessagePage(exchange, notice, 403);
}

/** Sends a page with one message and one link, in the language of the reader. */
export function sendMessagePage(
  exchange: PageExchange,
  notice: { title: string; text: HtmlPart; href: string; link: string },
  status = 200,
): FastifyReply {
  const body = html`<h1>${notice.title}</h1>
    <p>${notice.text}</p>
    <p><a class="button" href="${notice.href}">${notice.link}</a></p>`;
  const { request } = exchange;
  const fromLink = request.url.includes('token=');
  return sendPage(
    exchange,
    narrowPage({ request, title: notice.title, body, fromLink, withoutLanguages: true }),
    status,
    fromLink,
  );
}
