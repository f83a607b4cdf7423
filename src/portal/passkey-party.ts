import { createHmac, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { AppContext } from '../core/app-context.ts';
import type { RelyingParty } from '../people/webauthn.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { hidden } from './forms.ts';
import type { PageExchange } from './page-exchange.ts';
import type { Translator } from './translator.ts';

const CHALLENGE_BYTES = 32;

/**
 * The site as passkeys know it: the host of the base URL; in local mode also `localhost`. Undefined for an address without a name,
 * which browsers refuse.
 */
export function partyOf({ context, request }: PageExchange): RelyingParty | undefined {
  const base = new URL(context.baseUrl());
  if (!context.settings.live && request.hostname === 'localhost') {
    return { id: 'localhost', origin: `${request.protocol}://${request.host}` };
  }
  const named = isIP(base.hostname.replace(/^\[|\]$/g, '')) === 0;
  return named ? { id: base.hostname, origin: base.origin } : undefined;
}

export function newChallenge(): Uint8Array {
  return Uint8Array.from(randomBytes(CHALLENGE_BYTES));
}

/** Stable handle of a person in their passkeys, which does not reveal the person. WebAuthn 14.6.1. */
export function userHandle(secrets: AppContext['secrets'], user: number): Uint8Array {
  const key = secrets.subkey('passkey user');
  return Uint8Array.from(createHmac('sha256', key).update(String(user)).digest());
}

/** Form that the script of the page submits with the browser's answer. */
export function passkeyForm(
  t: Translator,
  { kind, action, options }: { kind: 'get' | 'create'; action: string; options: object },
  body: HtmlPart,
  button: string,
): Html {
  return html`<form
      class="plain"
      method="post"
      action="${action}"
      data-passkey="${kind}"
      data-options="${JSON.stringify(options)}"
    >
      ${body} ${hidden('credential', '')}
      <button>${button}</button>
    </form>
    <p
      class="note bad"
      id="passkey-note"
      role="alert"
      data-text="${t('passkey.browser-failed', { why: '{why}' })}"
      hidden
    ></p>
    <noscript><p class="note bad">${t('passkey.needs-scripts')}</p></noscript>`;
}
