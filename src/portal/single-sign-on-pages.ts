import type { FastifyInstance, FastifyReply } from 'fastify';
import { ownerAddress } from '../notices/owners.ts';
import {
  beginProviderSignIn,
  type ProviderRefusal,
  signInByProvider,
  takeProviderSignIn,
} from '../people/provider-commands.ts';
import { hashOf, newSecret } from '../people/secrets.ts';
import { shownBrowser } from '../people/sign-in.ts';
import { type OpenIdProvider, type ProviderClaims, ProviderDenial } from '../single-sign-on/openid-provider.ts';
import { browserOf, type PageExchange, type PortalDeps, redirect, sendMessagePage } from './page-exchange.ts';
import { clearStep, isSecure, setSession, setStep, stepSecret } from './session-cookie.ts';
import { tooManyAttempts } from './link-errors.ts';
import type { PlainPortalKey } from './message-types.ts';
import { refuseInsecure, returnPath } from './sign-in-pages.ts';
import { translatorOf } from './translator.ts';

const CALLBACK = '/login/provider/callback';

/** Signing in by the OpenID provider of the server. */
export function singleSignOnRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    const { provider } = deps;
    if (provider === undefined) return;
    app.get('/login/provider', (request, reply) => begin({ ...deps, request, reply }, provider));
    app.get(CALLBACK, (request, reply) => finish({ ...deps, request, reply }, provider));
  };
}

/** Sends the browser to the provider. By GET: browsers apply form-action to the redirects of a form. */
async function begin(exchange: PageExchange, provider: OpenIdProvider): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  if (!isSecure(request)) return refuseInsecure(exchange);
  const wait = context.limits.take(request.ip, undefined, context.clock());
  if (wait > 0) return throttled(exchange, wait);
  const { secret, hash } = newSecret();
  const next = returnPath((request.query as Record<string, unknown>)['next']);
  try {
    const url = await provider.authorizationUrl(secret, redirectUri(exchange));
    await context.store.write(beginProviderSignIn, { hash, issuer: provider.settings.issuer, next });
    setStep(request, reply, secret);
    return redirect(exchange, url);
  } catch (error) {
    context.log.error({ reason: (error as Error).message }, 'failed to reach the OpenID provider');
    const text = translatorOf(request)('provider.unreachable', { provider: provider.settings.name });
    return refused(exchange, text, 502);
  }
}

function redirectUri({ context }: PageExchange): string {
  return `${context.baseUrl()}${CALLBACK}`;
}

/** Takes the answer of the provider. */
async function finish(exchange: PageExchange, provider: OpenIdProvider): Promise<FastifyReply> {
  const { context, people, request, reply } = exchange;
  if (!isSecure(request)) return refuseInsecure(exchange);
  const secret = stepSecret(request);
  const hash = hashOf(secret);
  const begun = hash && (await context.store.write(takeProviderSignIn, { hash }));
  if (secret === undefined || begun?.issuer !== provider.settings.issuer)
    return refused(exchange, translatorOf(request)('provider.expired'));
  clearStep(request, reply);
  const counted = people.admitFactor(request.ip);
  if (counted?.kind === 'throttled') return throttled(exchange, counted.retryAfter);
  const claims = await claimsOf(exchange, provider, secret);
  if (typeof claims === 'string') return refused(exchange, claims);
  counted?.rollBack();
  return enter(exchange, provider, claims, begun.next);
}

/** The claims of the answer, or why it is refused. */
async function claimsOf(
  exchange: PageExchange,
  provider: OpenIdProvider,
  secret: string,
): Promise<ProviderClaims | string> {
  const { context, request } = exchange;
  const answer = new URL(request.url, 'http://x').searchParams;
  try {
    return await provider.claims(secret, answer, redirectUri(exchange));
  } catch (error) {
    const t = translatorOf(request);
    const name = { provider: provider.settings.name };
    if (error instanceof ProviderDenial) return t('provider.denied', { ...name, why: error.message.slice(0, 60) });
    // Only the sentence: the cause of an error has the tokens.
    context.log.warn({ reason: (error as Error).message, ip: request.ip }, 'failed to sign in by the OpenID provider');
    return t('provider.bad-answer', name);
  }
}

/** Starts the session, or the second step. */
async function enter(
  exchange: PageExchange,
  provider: OpenIdProvider,
  { subject, email }: ProviderClaims,
  next: string,
): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const [session, pending] = [newSecret(), newSecret()];
  const key = (email === undefined ? undefined : ownerAddress(email)?.key) ?? null;
  const done = await context.store.write(signInByProvider, {
    identity: { issuer: provider.settings.issuer, subject, key },
    session: { hash: session.hash, method: 'provider', ...shownBrowser(browserOf(exchange)) },
    pending: pending.hash,
    next,
  });
  context.log.info({ ip: request.ip, outcome: done.kind }, 'sign-in by the OpenID provider');
  switch (done.kind) {
    case 'in':
      setSession(request, reply, session.secret);
      return redirect(exchange, next);
    case 'step':
      setStep(request, reply, pending.secret);
      return redirect(exchange, '/login/step');
    case 'unknown':
    case 'unverified':
    case 'other-subject':
      return refused(exchange, translatorOf(request)(REFUSALS[done.kind]));
  }
}

const REFUSALS = {
  unknown: 'provider.unknown',
  unverified: 'provider.unverified',
  'other-subject': 'provider.other-subject',
} as const satisfies Readonly<Record<ProviderRefusal, PlainPortalKey>>;

function refused(exchange: PageExchange, text: string, status = 422): FastifyReply {
  const t = translatorOf(exchange.request);
  const notice = { title: t('sign-in.not'), text, href: '/login', link: t('button.sign-in') };
  return sendMessagePage(exchange, notice, status);
}

function throttled(exchange: PageExchange, retryAfter: number): FastifyReply {
  void exchange.reply.header('retry-after', String(retryAfter));
  return refused(exchange, tooManyAttempts(translatorOf(exchange.request), retryAfter), 429);
}
