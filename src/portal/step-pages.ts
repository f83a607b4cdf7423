import type { FastifyInstance, FastifyReply } from 'fastify';
import { admitSecondStep, findPendingSignIn, finishSignIn, type PendingSignIn } from '../people/pending-commands.ts';
import { checkSecondFactor } from '../people/second-factor.ts';
import { formToken, hashOf, isFormToken, newSecret } from '../people/secrets.ts';
import { shownBrowser } from '../people/sign-in.ts';
import { EMPTY_FORM, field, type FormField, type FormState, hidden, problemNote } from './forms.ts';
import { clearStep, isSecure, setSession, stepSecret } from './session-cookie.ts';
import { Fields } from './form-fields.ts';
import { html } from './html.ts';
import { narrowPage } from './layout.ts';
import { tooManyAttempts } from './link-errors.ts';
import { browserOf, type PageExchange, type PortalDeps, redirect, sendPage } from './page-exchange.ts';
import { refuseInsecure } from './sign-in-pages.ts';
import { type Translator, translatorOf } from './translator.ts';

/** `/login/step`: the second step of a sign-in. */
export function stepRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/login/step', (request, reply) => withPending({ ...deps, request, reply }, showStep));
    app.post('/login/step', (request, reply) => withPending({ ...deps, request, reply }, submitStep));
  };
}

/** A sign-in that waits, with the secret of its cookie. */
interface StepVisitor extends PendingSignIn {
  secret: string;
  hash: Uint8Array;
}

/** Requires a first step in this browser. */
async function withPending(
  exchange: PageExchange,
  handle: (exchange: PageExchange, step: StepVisitor) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  if (!isSecure(exchange.request)) return refuseInsecure(exchange);
  const secret = stepSecret(exchange.request);
  const hash = hashOf(secret);
  const { store, clock } = exchange.context;
  const found = hash === undefined ? undefined : await store.read(findPendingSignIn, { hash, now: clock() });
  if (found === undefined || hash === undefined || secret === undefined) return startAgain(exchange);
  return handle(exchange, { ...found, secret, hash });
}

function startAgain(exchange: PageExchange): FastifyReply {
  clearStep(exchange.request, exchange.reply);
  return redirect(exchange, '/login?done=step');
}

/** The field for a code of the second factor. */
export function factorCodeField(t: Translator): FormField {
  return { name: 'code', label: t('step.code'), autocomplete: 'one-time-code', hint: t('step.code-hint') };
}

async function showStep(exchange: PageExchange, step: StepVisitor): Promise<FastifyReply> {
  return stepPage(exchange, step, EMPTY_FORM);
}

function stepPage(exchange: PageExchange, step: StepVisitor, form: FormState, status = 200): FastifyReply {
  const t = translatorOf(exchange.request);
  const title = t('step.title');
  const body = html`<h1>${title}</h1>
    <p>${t.rich('step.as', { address: html`<strong>${step.email}</strong>` })}</p>
    ${problemNote(form)}
    <form class="plain" method="post" action="/login/step">
      ${hidden('form', formToken(step.secret))} ${field(factorCodeField(t), form)}
      <button>${t('button.continue')}</button>
    </form>
    <form class="plain" method="post" action="/login/passkey">
      ${hidden('next', step.next)}
      <button class="quiet">${t('step.passkey')}</button>
    </form>
    <p class="small soft">${t('step.lost', { host: exchange.context.settings.hostname })}</p>
    <p class="small"><a href="/login">${t('step.other-account')}</a></p>`;
  return sendPage(exchange, narrowPage({ request: exchange.request, title, body }), status);
}

async function submitStep(exchange: PageExchange, step: StepVisitor): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const fields = new Fields(request.body);
  if (!isFormToken(fields.text('form'), step.secret)) return startAgain(exchange);
  const given = { text: fields.text('code'), ip: request.ip };
  const checked = await checkSecondFactor(exchange, given, () => context.store.write(admitSecondStep, step));
  if (checked.kind === 'ended') return startAgain(exchange);
  if (checked.kind !== 'right') return refuseCode(exchange, step, checked);
  const { secret, hash } = newSecret();
  const { proof } = checked;
  const session = { user: step.user, hash, method: proof.kind, ...shownBrowser(browserOf(exchange)) };
  const done = await context.store.write(finishSignIn, { pending: step.hash, proof, session });
  if (done.kind === 'ended') return startAgain(exchange);
  if (done.kind !== 'in') return refuseCode(exchange, step, { kind: 'wrong' });
  clearStep(request, reply);
  setSession(request, reply, secret);
  return redirect(exchange, done.next);
}

function refuseCode(
  exchange: PageExchange,
  step: StepVisitor,
  why: { kind: 'wrong' } | { kind: 'throttled'; retryAfter: number },
): FastifyReply {
  const t = translatorOf(exchange.request);
  if (why.kind === 'wrong') {
    return stepPage(exchange, step, { values: {}, errors: { code: t('step.wrong-code') } }, 422);
  }
  void exchange.reply.header('retry-after', String(why.retryAfter));
  const problem = tooManyAttempts(t, why.retryAfter, 'codes');
  return stepPage(exchange, step, { values: {}, errors: {}, problem }, 429);
}
