import type { FactorOverview } from '../people/totp-commands.ts';
import { base32, totpUri } from '../people/totp.ts';
import { formToken } from '../people/secrets.ts';
import type { Membership, SessionLine } from '../people/session-commands.ts';
import { browserOfAgent } from '../people/user-agent.ts';
import { EMPTY_FORM, field, type FormState, hidden } from './forms.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { tag, timestamp } from './components.ts';
import type { PageExchange, Visitor } from './page-exchange.ts';
import { qrCode } from './qr-code.ts';
import { proofField } from './fresh-factor.ts';
import { SECURITY_PATH } from './security-state.ts';
import { FACTOR_CODE } from './step-pages.ts';

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
  const form = refused.action === 'start' ? refused.form : EMPTY_FORM;
  if (totpSince === null) {
    return html`<section>
      <h2>Authenticator app</h2>
      <p>An app on your phone shows a code that changes every 30 seconds. Signing in asks for it after the password.</p>
      <form class="sheet" method="post" action="${SECURITY_PATH}">
        ${hiddenFields(visitor, 'start')} ${proofField(exchange, visitor, form, 'start-code')}
        <button>Set up authenticator app</button>
      </form>
    </section>`;
  }
  return html`<section>
    <h2>Authenticator app</h2>
    <p>${tag('Active', 'ok')} since ${timestamp(totpSince)}. Signing in asks for a code after the password.</p>
    ${byCode(visitor, refused, { act: 'off', label: 'Remove authenticator app', note: 'It is no longer asked for.' })}
  </section>`;
}

export function codesSection(visitor: Visitor, { unusedCodes }: FactorOverview, refused: RefusedAction): Html {
  return html`<section>
    <h2>Recovery codes</h2>
    <p>${unusedCodes} of 10 recovery codes are unused. ${unusedCodes < 4 && tag('Create new ones', 'warn')}</p>
    ${byCode(visitor, refused, { act: 'codes', label: 'Create new recovery codes', note: 'The old ones end.' })}
  </section>`;
}

/** The switch of letters about new devices. */
export function deviceNoticeSection(visitor: Visitor, on: boolean): Html {
  return html`<section>
    <h2>Letters about new devices</h2>
    <p>
      ${on ? tag('Active', 'ok') : tag('Off', 'warn')} Mailstead sends a letter to your verified address when somebody
      signs in as you from a browser that was not used before.
    </p>
    <form method="post" action="${SECURITY_PATH}">
      ${hiddenFields(visitor, 'notices')} ${hidden('on', on ? 'no' : 'yes')}
      <button class="quiet">${on ? 'Turn off letters' : 'Turn on letters'}</button>
    </form>
  </section>`;
}

/** The link to the OpenID provider, if there is one. */
export function providerSection(visitor: Visitor, name: string, linkedAt: number): Html {
  return html`<section>
    <h2>Single sign-on</h2>
    <p>${tag('Active', 'ok')} since ${timestamp(linkedAt)}: ${name} signs you in.</p>
    <form method="post" action="${SECURITY_PATH}">
      ${hiddenFields(visitor, 'unlink')}
      <button class="quiet">Unlink</button>
    </form>
  </section>`;
}

/** Names the organizations that require a second factor. */
export function requirement(memberships: readonly Membership[], hasFactor: boolean): HtmlPart {
  const names = memberships.map((one) => one.name).join(', ');
  if (names === '') return undefined;
  return html`<div class="note ${!hasFactor && 'warn'}">
    <p>
      <strong>${names} requires a second factor.</strong>
      ${hasFactor ? html`<a href="/">Continue</a>` : 'Register a passkey or set up an authenticator app to continue.'}
    </p>
  </div>`;
}

/** A form that needs a fresh code, closed until it is opened or was refused. */
function byCode(
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
      ${field({ ...FACTOR_CODE, id: `${act}-code` }, own)}<button>${label}</button>
    </form>
  </details>`;
}

/** The QR code of an enrollment, with the form that finishes it. */
export function enrollmentPanel(
  { context }: PageExchange,
  visitor: Visitor,
  key: Uint8Array,
  form: FormState = EMPTY_FORM,
): Html {
  const uri = totpUri(key, { email: visitor.person.email, hostname: context.settings.hostname });
  const code = { ...FACTOR_CODE, id: 'enroll-code', hint: 'The 6 digits that the app shows now.' };
  return html`<section class="secret">
    <h2>Scan this code with your authenticator app</h2>
    ${qrCode(uri)}
    <p class="small">Or enter this key in the app:</p>
    <output aria-label="Key">${base32(key).replace(/(.{4})(?=.)/g, '$1 ')}</output>
    <form class="plain" method="post" action="${SECURITY_PATH}">
      ${hiddenFields(visitor, 'confirm')} ${field(code, form)}
      <button>Confirm</button>
    </form>
  </section>`;
}

/** Names the sessions that began without the second factor. */
export function sessionsBefore({ secret }: Visitor, before: readonly SessionLine[]): HtmlPart {
  if (before.length === 0) return undefined;
  return html`<div class="note warn">
    <p>
      <strong
        >${before.length === 1 ? '1 other browser' : `${before.length} other browsers`} signed in without it.</strong
      >
      End these sessions if one is not yours:
    </p>
    <ul>
      ${before.map(({ agent, ip, createdAt }) => html`<li>${browserOfAgent(agent)}, ${ip}, ${timestamp(createdAt)}</li>`)}
    </ul>
    <form method="post" action="/account">
      ${hidden('form', formToken(secret))} ${hidden('do', 'others')}
      <button class="quiet">End all other sessions</button>
    </form>
  </div>`;
}
