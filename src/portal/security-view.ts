import type { FactorOverview } from '../people/totp-commands.ts';
import { encodeBase32, totpUri } from '../people/totp.ts';
import { formToken } from '../people/secrets.ts';
import type { Membership, SessionLine } from '../people/session-commands.ts';
import { browserName } from './device-list.ts';
import { EMPTY_FORM, field, type FormState, hidden } from './forms.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { tag, timestamp } from './components.ts';
import type { PageExchange, Visitor } from './page-exchange.ts';
import { qrCode } from './qr-code.ts';
import { proofField } from './fresh-factor.ts';
import { SECURITY_PATH } from './security-state.ts';
import { factorCodeField } from './step-pages.ts';
import { type Translator, translatorOf } from './translator.ts';

/** Hidden fields of a form of this page. */
function hiddenFields({ secret }: Visitor, act: string): HtmlPart {
  return [hidden('form', formToken(secret)), hidden('do', act)];
}

interface RefusedAction {
  action: string | undefined;
  form: FormState;
}

/** The authenticator app: its state and what can be done with it. */
export function authenticatorSection(
  exchange: PageExchange,
  visitor: Visitor,
  { totpSince }: FactorOverview,
  refused: RefusedAction,
): Html {
  const t = translatorOf(exchange.request);
  const form = refused.action === 'start' ? refused.form : EMPTY_FORM;
  if (totpSince === null) {
    return html`<section>
      <h2>${t('security.authenticator')}</h2>
      <p>${t('security.app-about')}</p>
      <form class="sheet" method="post" action="${SECURITY_PATH}">
        ${hiddenFields(visitor, 'start')} ${proofField(exchange, visitor, form, 'start-code')}
        <button>${t('security.app-set-up')}</button>
      </form>
    </section>`;
  }
  return html`<section>
    <h2>${t('security.authenticator')}</h2>
    <p>${tag(t('state.active'), 'ok')} ${t.rich('security.app-since', { time: timestamp(totpSince, t) })}</p>
    ${byCode(t, visitor, refused, { act: 'off', label: t('security.app-remove'), note: t('security.app-remove-note') })}
  </section>`;
}

export function codesSection(
  t: Translator,
  visitor: Visitor,
  { unusedCodes }: FactorOverview,
  refused: RefusedAction,
): Html {
  return html`<section>
    <h2>${t('security.codes')}</h2>
    <p>
      ${t('security.codes-left', { count: unusedCodes })} ${unusedCodes < 4 && tag(t('security.codes-few'), 'warn')}
    </p>
    ${byCode(t, visitor, refused, { act: 'codes', label: t('security.codes-create'), note: t('security.codes-note') })}
  </section>`;
}

/** The switch of notifications about new devices. */
export function deviceNoticeSection(t: Translator, visitor: Visitor, on: boolean): Html {
  return html`<section>
    <h2>${t('security.notices')}</h2>
    <p>${on ? tag(t('state.active'), 'ok') : tag(t('state.off'), 'warn')} ${t('security.notices-about')}</p>
    <form method="post" action="${SECURITY_PATH}">
      ${hiddenFields(visitor, 'notices')} ${hidden('on', on ? 'no' : 'yes')}
      <button class="quiet">${on ? t('security.notices-off') : t('security.notices-on')}</button>
    </form>
  </section>`;
}

/** The link to the OpenID provider, if there is one. */
export function providerSection(t: Translator, visitor: Visitor, name: string, linkedAt: number): Html {
  return html`<section>
    <h2>${t('security.single-sign-on')}</h2>
    <p>
      ${tag(t('state.active'), 'ok')} ${t.rich('security.linked', { time: timestamp(linkedAt, t), provider: name })}
    </p>
    <form method="post" action="${SECURITY_PATH}">
      ${hiddenFields(visitor, 'unlink')}
      <button class="quiet">${t('security.unlink')}</button>
    </form>
  </section>`;
}

/** Names the organizations that require a second factor. */
export function requirement(t: Translator, memberships: readonly Membership[], hasFactor: boolean): HtmlPart {
  const names = memberships.map((one) => one.name).join(', ');
  if (names === '') return undefined;
  return html`<div class="note ${!hasFactor && 'warn'}">
    <p>
      <strong>${t('security.required', { organizations: names })}</strong>
      ${hasFactor ? html`<a href="/">${t('button.continue')}</a>` : t('security.required-text')}
    </p>
  </div>`;
}

/** A form that needs a fresh code, closed until it is opened or was refused. */
function byCode(
  t: Translator,
  visitor: Visitor,
  { action, form }: RefusedAction,
  { act, label, note }: { act: string; label: string; note: string },
): Html {
  const own = action === act ? form : EMPTY_FORM;
  return html`<details class="more" ${action === act && html`open`}>
    <summary>${label}</summary>
    <form class="sheet" method="post" action="${SECURITY_PATH}">
      ${hiddenFields(visitor, act)}
      <p class="small">${note}</p>
      ${field({ ...factorCodeField(t), id: `${act}-code` }, own)}<button>${label}</button>
    </form>
  </details>`;
}

/** The QR code of an enrollment, with the form that finishes it. */
export function enrollmentPanel(
  { context, request }: PageExchange,
  visitor: Visitor,
  key: Uint8Array,
  form: FormState = EMPTY_FORM,
): Html {
  const uri = totpUri(key, { email: visitor.person.email, hostname: context.settings.hostname });
  const t = translatorOf(request);
  const code = { ...factorCodeField(t), id: 'enroll-code', hint: t('security.enroll-hint') };
  return html`<section class="secret">
    <h2>${t('security.scan')}</h2>
    ${qrCode(uri)}
    <p class="small">${t('security.key-about')}</p>
    <output aria-label="${t('security.key')}">${encodeBase32(key).replace(/(.{4})(?=.)/g, '$1 ')}</output>
    <form class="plain" method="post" action="${SECURITY_PATH}">
      ${hiddenFields(visitor, 'confirm')} ${field(code, form)}
      <button>${t('security.confirm')}</button>
    </form>
  </section>`;
}

/** Names the sessions that began without the second factor. */
export function sessionsBefore(t: Translator, { secret }: Visitor, before: readonly SessionLine[]): HtmlPart {
  if (before.length === 0) return undefined;
  return html`<div class="note warn">
    <p><strong>${t('security.others', { count: before.length })}</strong> ${t('security.others-text')}</p>
    <ul>
      ${before.map(({ agent, ip, createdAt }) => html`<li>${browserName(t, agent)}, ${ip}, ${timestamp(createdAt, t)}</li>`)}
    </ul>
    <form method="post" action="/account">
      ${hidden('form', formToken(secret))} ${hidden('do', 'others')}
      <button class="quiet">${t('devices.end-others')}</button>
    </form>
  </div>`;
}
