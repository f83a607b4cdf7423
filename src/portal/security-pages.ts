import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  confirmTotp,
  disableTotp,
  factorOverview,
  renewRecoveryCodes,
  startTotp,
  unfinishedTotp,
} from '../people/totp-commands.ts';
import { admitFactorCheck } from '../people/pending-commands.ts';
import { newRecoveryCodes } from '../people/recovery-code.ts';
import { checkSecondFactor, openTotpSecret, sealTotpSecret } from '../people/second-factor.ts';
import { listSessions } from '../people/session-commands.ts';
import { acceptedStep, newTotpSecret } from '../people/totp.ts';
import type { FactorProof } from '../people/factor-commands.ts';
import { EMPTY_FORM, type FormState, problemNote } from './forms.ts';
import type { Fields } from './guard.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { fullPage } from './layout.ts';
import { tooManyAttempts } from './link-errors.ts';
import { pageFrame } from './organization-routes.ts';
import {
  ownForm,
  type PageExchange,
  type PortalDeps,
  redirect,
  sendPage,
  type Visitor,
  visitorOf,
} from './page-exchange.ts';
import { backLink, pageHead, secret } from './components.ts';
import { reauthenticate } from './reauthentication.ts';
import { authenticatorSection, enrollmentPanel, sessionsBefore } from './security-view.ts';
import { WRONG_CODE } from './step-pages.ts';

const PATH = '/account/security';

const DONE: Readonly<Record<string, string>> = {
  off: 'Authenticator app removed. Signing in needs the password only.',
};

/** `/account/security`: the second factor of the signed-in person. */
export function securityRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get(PATH, (request, reply) =>
      open({ ...deps, request, reply }, (exchange, visitor) => show(exchange, visitor)),
    );
    app.post(PATH, (request, reply) => open({ ...deps, request, reply }, act));
  };
}

async function open(
  exchange: PageExchange,
  handle: (exchange: PageExchange, visitor: Visitor) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const visitor = await visitorOf(exchange);
  return visitor === undefined ? redirect(exchange, `/login?next=${PATH}`) : handle(exchange, visitor);
}

/** Result of an action: the page again, with a panel or with errors. */
interface SecurityState {
  panel?: Html;
  /** The refused action. */
  action?: string;
  form?: FormState;
  status?: number;
}

async function show(exchange: PageExchange, visitor: Visitor, state: SecurityState = {}): Promise<FastifyReply> {
  const { form = EMPTY_FORM } = state;
  const { done } = exchange.request.query as Record<string, unknown>;
  const notice = typeof done === 'string' ? DONE[done] : undefined;
  const factors = await exchange.context.store.read(factorOverview, { user: visitor.person.id });
  const body: HtmlPart = html`${notice !== undefined && html`<div class="note" role="status"><p>${notice}</p></div>`}
  ${problemNote(form)} ${backLink('/account', 'Your account')}
  ${pageHead('Sign-in security', 'Ways to prove that it is you, besides your password.')} ${state.panel}
  ${authenticatorSection(exchange, visitor, factors, { action: state.action, form })}`;
  const page = fullPage(pageFrame(visitor, 'Sign-in security'), html`<div class="reading">${body}</div>`);
  return sendPage(exchange, page, state.status ?? 200);
}

async function act(exchange: PageExchange, visitor: Visitor): Promise<FastifyReply> {
  const fields = ownForm(exchange, visitor, PATH);
  if (fields === undefined) return exchange.reply;
  switch (fields.text('do')) {
    case 'start':
      return start(exchange, visitor, fields);
    case 'confirm':
      return confirm(exchange, visitor, fields);
    case 'codes':
      return renew(exchange, visitor, fields);
    case 'off':
      return turnOff(exchange, visitor, fields);
    default:
      return redirect(exchange, PATH);
  }
}

function refused(action: string, problem: string, status = 422): SecurityState {
  return { action, form: { values: {}, errors: {}, problem }, status };
}

function wrongCode(action: string): SecurityState {
  return { action, form: { values: {}, errors: { code: WRONG_CODE } }, status: 422 };
}

/** Begins an enrollment. A second factor without a first one would be the only one, so a password is required. */
async function start(exchange: PageExchange, visitor: Visitor, fields: Fields): Promise<FastifyReply> {
  const { person } = visitor;
  const { store, secrets } = exchange.context;
  if (person.password === null) return show(exchange, visitor, refused('start', 'Set a password first.'));
  const problem = await reauthenticate(exchange, visitor, fields.text('password'));
  if (problem !== undefined) return show(exchange, visitor, refused('start', problem));
  const key = newTotpSecret();
  const done = await store.write(startTotp, { user: person.id, secret: sealTotpSecret(secrets, person.id, key) });
  if (done.kind === 'on') return redirect(exchange, PATH);
  return show(exchange, visitor, { panel: enrollmentPanel(exchange, visitor, key) });
}

async function confirm(exchange: PageExchange, visitor: Visitor, fields: Fields): Promise<FastifyReply> {
  const { context, request } = exchange;
  const { person, session } = visitor;
  const now = context.clock();
  const found = await context.store.read(unfinishedTotp, { user: person.id, now });
  if (found === undefined) return show(exchange, visitor, refused('start', 'The enrollment has expired. Start again.'));
  const key = openTotpSecret(context.secrets, person.id, found.secret);
  const step = acceptedStep(key, fields.text('code').replace(/\s/g, ''), { now, after: 0 });
  if (step === undefined) {
    const error = { values: {}, errors: { code: 'Wrong code. Check that the clock of your phone is right.' } };
    return show(exchange, visitor, { panel: enrollmentPanel(exchange, visitor, key, error), status: 422 });
  }
  const { codes, hashes } = newRecoveryCodes();
  const actor = { user: person.id, ip: request.ip, session: session.id };
  const done = await context.store.write(confirmTotp, { ...actor, secret: found.secret, step, codes: hashes });
  if (done.kind === 'stale') return redirect(exchange, PATH);
  const sessions = await context.store.read(listSessions, { user: person.id, now });
  const before = sessions.filter((one) => one.id !== session.id);
  return show(exchange, visitor, { panel: html`${codesPanel(codes)} ${sessionsBefore(visitor, before)}` });
}

function codesPanel(codes: readonly string[]): Html {
  const about =
    'Shown only once. Each signs you in once if you lose your device. Print them, or keep them in a password manager.';
  return secret('Recovery codes', [['Recovery codes', codes.join('\n')]], about);
}

/** Checks a fresh second factor; the refusal is sent if it fails. */
async function freshFactor(
  exchange: PageExchange,
  visitor: Visitor,
  { action, text }: { action: string; text: string },
): Promise<FactorProof | SecurityState> {
  const { context, request } = exchange;
  const admit = () => context.store.write(admitFactorCheck, { user: visitor.person.id });
  const checked = await checkSecondFactor(exchange, { text, ip: request.ip }, admit);
  if (checked.kind === 'right') return checked.proof;
  if (checked.kind === 'throttled') return refused(action, tooManyAttempts(checked.retryAfter, 'codes'), 429);
  return wrongCode(action);
}

async function renew(exchange: PageExchange, visitor: Visitor, fields: Fields): Promise<FastifyReply> {
  const proof = await freshFactor(exchange, visitor, { action: 'codes', text: fields.text('code') });
  if (!('kind' in proof)) return show(exchange, visitor, proof);
  const { codes, hashes } = newRecoveryCodes();
  const actor = { user: visitor.person.id, ip: exchange.request.ip };
  const done = await exchange.context.store.write(renewRecoveryCodes, { ...actor, proof, codes: hashes });
  return show(exchange, visitor, done.kind === 'used' ? wrongCode('codes') : { panel: codesPanel(codes) });
}

async function turnOff(exchange: PageExchange, visitor: Visitor, fields: Fields): Promise<FastifyReply> {
  const proof = await freshFactor(exchange, visitor, { action: 'off', text: fields.text('code') });
  if (!('kind' in proof)) return show(exchange, visitor, proof);
  const actor = { user: visitor.person.id, ip: exchange.request.ip };
  const done = await exchange.context.store.write(disableTotp, { ...actor, proof });
  return done.kind === 'used' ? show(exchange, visitor, wrongCode('off')) : redirect(exchange, `${PATH}?done=off`);
}
