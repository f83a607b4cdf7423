import type { FastifyInstance, FastifyReply } from 'fastify';
import { addPasskeyChallenge, findPasskey, signInByPasskey, takePasskeyChallenge } from '../people/passkey-commands.ts';
import { formToken, hashOf, isFormToken, newSecret } from '../people/secrets.ts';
import { shownBrowser } from '../people/sign-in.ts';
import { readResponse, type RelyingParty, requestOptions, verifyAssertion } from '../people/webauthn.ts';
import { hidden } from './forms.ts';
import { clearStep, isSecure, setSession, setStep, stepSecret } from './session-cookie.ts';
import { Fields } from './form-fields.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { tooManyAttempts } from './link-errors.ts';
import { browserOf, type PageExchange, type PortalDeps, redirect, sendMessagePage, sendPage } from './page-exchange.ts';
import { newChallenge, partyOf, passkeyForm } from './passkey-party.ts';
import { refuseInsecure, returnPath } from './sign-in-pages.ts';
import { translatorOf } from './translator.ts';

/** Signing in with a passkey: it is password and second factor in one, as it verifies its user. */
export function passkeyRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.post('/login/passkey', (request, reply) => begin({ ...deps, request, reply }));
    app.post('/login/passkey/finish', (request, reply) => finish({ ...deps, request, reply }));
  };
}

async function begin(exchange: PageExchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  if (!isSecure(request)) return refuseInsecure(exchange);
  const party = partyOf(exchange);
  if (party === undefined) return refuseAddress(exchange);
  // The cookie of a first step stays, so that its provider still counts.
  const secret = stepSecret(request) ?? newSecret().secret;
  const hash = hashOf(secret) ?? newSecret().hash;
  const challenge = newChallenge();
  await context.store.write(addPasskeyChallenge, { hash, purpose: 'sign-in', challenge });
  setStep(request, reply, secret);
  const next = returnPath(new Fields(request.body).text('next'));
  const fields = [hidden('form', formToken(secret)), hidden('next', next)];
  const form = { kind: 'get', action: '/login/passkey/finish', options: requestOptions(party, challenge) } as const;
  const t = translatorOf(request);
  const title = t('passkey.sign-in');
  const body = html`<h1>${title}</h1>
    <p>${t('passkey.browser-asks')}</p>
    ${passkeyForm(t, form, fields, t('passkey.use'))}
    <p class="small"><a href="/login">${t('passkey.password-instead')}</a></p>`;
  return sendPage(exchange, narrowPage({ request, title, body, script: 'passkey' }), 200, true);
}

/** Refuses passkeys where the portal has no host name. */
export function refuseAddress(exchange: PageExchange): FastifyReply {
  const t = translatorOf(exchange.request);
  const notice = { title: t('passkey.needs-name'), text: t('passkey.no-name'), href: '/login' };
  return sendMessagePage(exchange, { ...notice, link: t('button.sign-in') }, 409);
}

async function finish(exchange: PageExchange): Promise<FastifyReply> {
  const { context, people, request, reply } = exchange;
  if (!isSecure(request)) return refuseInsecure(exchange);
  const party = partyOf(exchange);
  const step = stepSecret(request);
  const fields = new Fields(request.body);
  if (party === undefined || step === undefined || !isFormToken(fields.text('form'), step)) return refused(exchange);
  clearStep(request, reply);
  const counted = people.admitFactor(request.ip);
  if (counted?.kind === 'throttled') return throttled(exchange, counted.retryAfter);
  const found = await checkAnswer(exchange, party, { step, text: fields.text('credential') });
  if (found === undefined) return refused(exchange);
  const { secret, hash } = newSecret();
  const session = { user: found.user, hash, method: 'passkey' as const, ...shownBrowser(browserOf(exchange)) };
  const passkey = { passkey: found.id, counter: found.counter, pending: found.pending };
  const done = await context.store.write(signInByPasskey, { ...passkey, session });
  if (done.kind === 'stale') return refused(exchange);
  counted?.rollBack();
  setSession(request, reply, secret);
  return redirect(exchange, returnPath(fields.text('next')));
}

/** Verifies the answer to the challenge of this browser, which is used up by it. */
async function checkAnswer(
  { context, people, request }: PageExchange,
  party: RelyingParty,
  { step, text }: { step: string; text: string },
): Promise<{ id: number; user: number; counter: number; pending: Uint8Array } | undefined> {
  const hash = hashOf(step);
  const given = hash && (await context.store.write(takePasskeyChallenge, { hash, purpose: 'sign-in' }));
  const response = readResponse(text);
  if (given === undefined || hash === undefined || response === undefined) return undefined;
  const stored = await context.store.read(findPasskey, { credentialId: Uint8Array.from(response.id) });
  if (stored === undefined) return undefined;
  const counter = verifyAssertion(response, stored, { party, challenge: given.challenge });
  if (counter === undefined) people.recordWrongFactor(request.ip, stored.user);
  return counter === undefined ? undefined : { id: stored.id, user: stored.user, counter, pending: hash };
}

function refused(exchange: PageExchange): FastifyReply {
  return notSignedIn(exchange, translatorOf(exchange.request)('passkey.refused'), 422);
}

function throttled(exchange: PageExchange, retryAfter: number): FastifyReply {
  void exchange.reply.header('retry-after', String(retryAfter));
  return notSignedIn(exchange, tooManyAttempts(translatorOf(exchange.request), retryAfter), 429);
}

function notSignedIn(exchange: PageExchange, text: string, status: number): FastifyReply {
  const t = translatorOf(exchange.request);
  const notice = { title: t('sign-in.not'), text, href: '/login', link: t('button.sign-in') };
  return sendMessagePage(exchange, notice, status);
}
