import type { createDeviceLink } from '../../operations/mailboxes/device-link.ts';
import { timestamp } from '../components.ts';
import { type Html, html } from '../html.ts';
import { qrCode } from '../qr-code.ts';
import type { OutputOf } from '../visit.ts';

/** The link that sets up a device, as QR code. Shown once. */
export function devicePanel({ url, expiresAt }: OutputOf<typeof createDeviceLink>): Html {
  return html`<div class="secret" role="status">
    <h2>Scan this code with the camera of the phone</h2>
    ${qrCode(url)}
    <p class="small soft">Or open this link on the device:</p>
    <output aria-label="Link">${url}</output>
    <p class="small">It works once, until ${timestamp(expiresAt)}.</p>
  </div>`;
}
