import { createHash } from 'node:crypto';
import { jmapUrlOf } from './client-settings.ts';

interface PaccServer {
  hostname: string;
  baseUrl: string;
}

/**
 * Document of draft-ietf-mailmaint-pacc-02 4. Each change of its octets makes the digests stale that owners published by hand.
 * Revision 03 renames `smtp` to `submit`; both are there, so that programs of either find their settings by one digest.
 */
export function paccDocument(domain: string, { hostname, baseUrl }: PaccServer): string {
  const server = { host: hostname };
  return JSON.stringify({
    protocols: { jmap: { url: jmapUrlOf(baseUrl) }, imap: server, submit: server, smtp: server },
    authentication: { password: true },
    info: { provider: { name: domain, shortName: domain.slice(0, 20) }, help: { documentation: `${baseUrl}/` } },
  });
}

/** Text at `_ua-auto-config.DOMAIN`: without it, mail programs must not use the document. draft-ietf-mailmaint-pacc-02 5. */
export function paccDigestText(domain: string, server: PaccServer): string {
  const digest = createHash('sha256').update(paccDocument(domain, server)).digest('base64');
  return `v=UAAC1; a=sha256; d=${digest}`;
}

/** Tests if a text at this name has a digest of a document. */
export const isPaccDigest = (text: string): boolean => /^v=UAAC1(?:;|$)/.test(tagsOf(text));

/** Tests if two texts have the same digest: tags may have other white space between them. */
export const isSamePaccDigest = (one: string, other: string): boolean => tagsOf(one) === tagsOf(other);

/** Text without white space, and without the end mark of the last tag. */
const tagsOf = (text: string): string => text.replace(/\s+/g, '').replace(/;$/, '');
