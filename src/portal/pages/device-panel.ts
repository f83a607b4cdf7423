import type { createDeviceLink } from '../../operations/mailboxes/device-link.ts';
import { timestamp } from '../components.ts';
import { type Html, html } from '../html.ts';
import type { Translator } from '../translator.ts';
import { qrCode } from '../qr-code.ts';
import type { OutputOf } from '../visit.ts';

/** The link that sets up a device, as QR code. Shown once. */
export function devicePanel(t: Translator, { url, expiresAt }: OutputOf<typeof createDeviceLink>): Html {
  return html`<div class="secret" role="status">
    <h2>${t('setup.scan')}</h2>
    ${qrCode(url)}
    <p class="small soft">${t('setup.open-link')}</p>
    <output aria-label="${t('setup.link')}">${url}</output>
    <p class="small">${t.rich('setup.once', { time: timestamp(expiresAt, t) })}</p>
  </div>`;
}
