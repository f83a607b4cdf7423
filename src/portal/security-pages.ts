import type { FastifyInstance, FastifyReply } from 'fastify';
import { renewRecoveryCodes } from '../people/code-commands.ts';
import { deviceNoticesOn, setDeviceNotices } from '../people/device-commands.ts';
import { factorRequiredBy } from '../people/rule-commands.ts';
import { listPasskeys } from '../people/passkey-commands.ts';
import { providerLinkedAt, unlinkProvider } from '../people/provider-commands.ts';
import { newRecoveryCodes } from '../people/recovery-code.ts';
import { openTotpSecret, sealTotpSecret } from '../people/second-factor.ts';
import { listSessions } from '../people/session-commands.ts';
import { confirmTotp, disableTotp, factorOverview, startTotp, unfinishedTotp } from '../people/totp-commands.ts';
import { acceptedStep, newTotpSecret } from '../people/totp.ts';
import { backLink, pageHead } from './components.ts';
import { EMPTY_FORM, problemNote } from './forms.ts';
import { checkFreshCode, proveAgain, refusedFactor, wrongCode } from './fresh-factor.ts';
import type { Fields } from './form-fields.ts';
import { html, type HtmlPart } from './html.ts';
import { fullPage } from './layout.ts';
import type { PlainPortalKey } from './message-types.ts';
import { translatorOf } from './translator.ts';
import { pageFrame } from './organization-routes.ts';
import {
  ownForm,
  type PageExchange,
  type PortalDeps,
  redirect,
  sendPage,
  type Visitor,
  visitorToEnroll,
} from './page-exchange.ts';
import { endPasskey, finishPasskey, passkeySection, startPasskey } from './security-passkeys.ts';
import { codesPanel, SECURITY_PATH, type SecurityOutcome, type SecurityState } from './security-state.ts';
import {
  authenticatorSection,
  codesSection,
  deviceNoticeSection,
  enrollmentPanel,
  providerSection,
  requirement,
  sessionsBefore,
} from './security-view.ts';

const DONE: Readonly<Record<string, PlainPortalKey>> = {
  off: 'security.done-off',
  app: 'security.done-app',
  passkey: 'security.done-passkey',
  removed: 'security.done-removed',
  notices: 'security.done-notices',
  unlinked: 'security.done-unlinked',
};

/** `/account/security`: the second factors of the signed-in person. The only page for people who must set one up. */
export function securityRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get(SECURITY_PATH, (request, reply) => open({ ...deps, request, reply }, showPage));
    app.post(SECURITY_PATH, (request, reply) => open({ ...deps, request, reply }, submit));
  };
}

async function open(
  exchange: PageExchange,
  handle: (exchange: PageExchange, visitor: Visitor) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const visitor = await visitorToEnroll(exchange);
  return visitor === undefined ? redirect(exchange, `/login?next=${SECURITY_PATH}`) : handle(exchange, visitor);
}

function showPage(exchange: PageExchange, visitor: Visitor): Promise<FastifyReply> {
  return show(exchange, visitor, {});
}

async function submit(exchange: PageExchange, visitor: Visitor): Promise<FastifyReply> {
  const fields = ownForm(exchange, visitor, SECURITY_PATH);
  if (fields === undefined) return exchange.reply;
  const done = await act(exchange, visitor, fields);
  return 'done' in done ? redirect(exchange, `${SECURITY_PATH}?done=${done.done}`) : show(exchange, visitor, done);
}

async function show(exchange: PageExchange, visitor: Visitor, state: SecurityState): Promise<FastifyReply> {
  const { form = EMPTY_FORM, script } = state;
  const { store } = exchange.context;
  const user = visitor.person.id;
  const { done } = exchange.request.query as Record<string, unknown>;
  const notice = typeof done === 'string' ? DONE[done] : undefined;
  const [factors, passkeys] = [await store.read(factorOverview, { user }), await store.read(listPasskeys, { user })];
  const refused = { action: state.action, form };
  const hasFactor = factors.totpSince !== null || passkeys.length > 0;
  const t = translatorOf(exchange.request);
  const title = t('security.title');
  const body: HtmlPart = html`${notice !== undefined && html`<div class="note" role="status"><p>${t(notice)}</p></div>`}
  ${problemNote(form)} ${backLink('/account', t('account.title'))} ${pageHead(title, t('security.about'))}
  ${requirement(t, factorRequiredBy(visitor.memberships), hasFactor)} ${state.panel}
  ${passkeySection(exchange, visitor, passkeys, refused)} ${authenticatorSection(exchange, visitor, factors, refused)}
  ${hasFactor && codesSection(t, visitor, factors, refused)} ${await providerLinkOf(exchange, visitor)}
  ${deviceNoticeSection(t, visitor, await store.read(deviceNoticesOn, { user }))}`;
  const frame = pageFrame(exchange.request, visitor, title);
  const page = fullPage({ ...frame, script }, html`<div class="reading">${body}</div>`);
  return sendPage(exchange, page, state.status ?? 200, script !== undefined);
}

async function providerLinkOf({ context, provider, request }: PageExchange, visitor: Visitor): Promise<HtmlPart> {
  if (provider === undefined) return undefined;
  const { issuer, name } = provider.settings;
  const linkedAt = await context.store.read(providerLinkedAt, { user: visitor.person.id, issuer });
  return linkedAt === undefined ? undefined : providerSection(translatorOf(request), visitor, name, linkedAt);
}

async function unlink({ context, provider, request }: PageExchange, { person }: Visitor): Promise<SecurityOutcome> {
  if (provider === undefined) return {};
  const { issuer } = provider.settings;
  await context.store.write(unlinkProvider, { user: person.id, ip: request.ip, issuer });
  return { done: 'unlinked' };
}

async function act(exchange: PageExchange, visitor: Visitor, fields: Fields): Promise<SecurityOutcome> {
  switch (fields.text('do')) {
    case 'start':
      return start(exchange, visitor, fields);
    case 'confirm':
      return confirm(exchange, visitor, fields);
    case 'notices':
      await exchange.context.store.write(setDeviceNotices, {
        user: visitor.person.id,
        on: fields.text('on') === 'yes',
      });
      return { done: 'notices' };
    case 'unlink':
      return unlink(exchange, visitor);
    case 'codes':
      return renew(exchange, visitor, fields);
    case 'off':
      return turnOff(exchange, visitor, fields);
    case 'passkey':
      return startPasskey(exchange, visitor, fields);
    case 'add-passkey':
      return finishPasskey(exchange, visitor, fields);
    case 'remove-passkey':
      return endPasskey(exchange, visitor, fields, await lastFactorRule(exchange, visitor, 'passkey'));
    default:
      return {};
  }
}

/** Explains why the last second factor must stay; undefined if it may go. */
async function lastFactorRule(
  { context: { store }, request }: PageExchange,
  { person, memberships }: Visitor,
  removed: 'totp' | 'passkey',
): Promise<string | undefined> {
  const [first] = factorRequiredBy(memberships);
  const { totpSince } = await store.read(factorOverview, { user: person.id });
  const passkeys = await store.read(listPasskeys, { user: person.id });
  const left = Number(totpSince !== null) + passkeys.length - 1;
  if (first === undefined || left > 0) return undefined;
  const t = translatorOf(request);
  return t(removed === 'totp' ? 'security.last-app' : 'security.last-passkey', { organization: first.name });
}

/** Begins the enrollment of an authenticator app. */
async function start(exchange: PageExchange, visitor: Visitor, fields: Fields): Promise<SecurityOutcome> {
  const user = visitor.person.id;
  const { store, secrets } = exchange.context;
  const refusal = await proveAgain(exchange, visitor, fields);
  if (refusal !== undefined) return { action: 'start', ...refusal };
  const key = newTotpSecret();
  const done = await store.write(startTotp, {
    user,
    session: visitor.session.id,
    secret: sealTotpSecret(secrets, user, key),
  });
  if (done.kind === 'on') return {};
  return { panel: enrollmentPanel(exchange, visitor, key) };
}

async function confirm(exchange: PageExchange, visitor: Visitor, fields: Fields): Promise<SecurityOutcome> {
  const { context, request } = exchange;
  const { person, session } = visitor;
  const t = translatorOf(request);
  const now = context.clock();
  const found = await context.store.read(unfinishedTotp, { user: person.id, session: session.id, now });
  if (found === undefined) return { action: 'start', ...refusedFactor(t('security.enrollment-expired')) };
  const key = openTotpSecret(context.secrets, person.id, found.secret);
  const step = acceptedStep(key, fields.text('code').replace(/\s/g, ''), { now, after: 0 });
  if (step === undefined) {
    const error = { values: {}, errors: { code: t('security.wrong-clock') } };
    return { panel: enrollmentPanel(exchange, visitor, key, error), status: 422 };
  }
  const { codes, hashes } = newRecoveryCodes();
  const actor = { user: person.id, ip: request.ip, session: session.id };
  const done = await context.store.write(confirmTotp, { ...actor, secret: found.secret, step, codes: hashes });
  if (done.kind === 'stale') return {};
  if (!done.withCodes) return { done: 'app' };
  const sessions = await context.store.read(listSessions, { user: person.id, now });
  const before = sessions.filter((one) => one.id !== session.id);
  return { panel: html`${codesPanel(t, codes)} ${sessionsBefore(t, visitor, before)}` };
}

async function renew(exchange: PageExchange, visitor: Visitor, fields: Fields): Promise<SecurityOutcome> {
  const t = translatorOf(exchange.request);
  const checked = await checkFreshCode(exchange, visitor, fields.text('code'));
  if (!('proof' in checked)) return { action: 'codes', ...checked };
  const { codes, hashes } = newRecoveryCodes();
  const actor = { user: visitor.person.id, ip: exchange.request.ip };
  const input = { ...actor, proof: checked.proof, codes: hashes };
  const done = await exchange.context.store.write(renewRecoveryCodes, input);
  return done.kind === 'used' ? { action: 'codes', ...wrongCode(t) } : { panel: codesPanel(t, codes) };
}

async function turnOff(exchange: PageExchange, visitor: Visitor, fields: Fields): Promise<SecurityOutcome> {
  const rule = await lastFactorRule(exchange, visitor, 'totp');
  if (rule !== undefined) return { action: 'off', ...refusedFactor(rule) };
  const checked = await checkFreshCode(exchange, visitor, fields.text('code'));
  if (!('proof' in checked)) return { action: 'off', ...checked };
  const actor = { user: visitor.person.id, ip: exchange.request.ip };
  const done = await exchange.context.store.write(disableTotp, { ...actor, proof: checked.proof });
  if (done.kind === 'used') return { action: 'off', ...wrongCode(translatorOf(exchange.request)) };
  return { done: 'off' };
}
