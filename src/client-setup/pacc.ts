import { createHash } from 'node:crypto';
import type { ClientSettings } from './client-settings.ts';

/** Document of draft-ietf-mailmaint-pacc-02 4; its octets are the same until the settings change, as a digest covers them. */
export function paccDocument(domain: string, { hostname, jmapUrl, baseUrl }: ClientSettings): string {
  return JSON.stringify({
    protocols: { jmap: { url: jmapUrl }, imap: { host: hostname }, smtp: { host: hostname } },
    authentication: { password: true },
    info: { provider: { name: domain, shortName: domain.slice(0, 20) }, help: { documentation: `${baseUrl}/` } },
  });
}

/** Text of the TXT record at `_ua-auto-config.DOMAIN` that proves the document. draft-ietf-mailmaint-pacc-02 5. */
export function paccText(document: string): string {
  return `v=UAAC1; a=sha256; d=${createHash('sha256').update(document).digest('base64')}`;
}
