import { request } from 'node:https';
import { isIP } from 'node:net';
import { responseTo } from '../../mail/limits/http-response.ts';
import type { AreaContext } from '../core/area-context.ts';
import { strangersNetworks } from '../core/networks.ts';
import { checkWebhookUrl } from '../webhooks/url-check.ts';

const TIMEOUT_MS = 30_000;

/**
 * Posts a TLS report to the checked address of its URL (SSRF). Follows no redirect and reads no body. The certificate is not
 * verified, as broken TLS may be what the report is about (RFC 8460 3). Returns the problem, if any.
 */
export async function postReport(
  { lookNow, settings }: Pick<AreaContext, 'lookNow' | 'settings'>,
  url: URL,
  octets: Uint8Array,
): Promise<string | undefined> {
  const checked = await checkWebhookUrl(url.href, strangersNetworks(settings.allowPrivateNetworks), lookNow);
  if ('problem' in checked) return checked.problem;
  const [ip] = checked.addresses;
  if (ip === undefined) return `${url.hostname} has no address`;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const status = await post(url, ip, octets, signal);
    return status >= 200 && status < 300 ? undefined : `${url.hostname} answered ${status}`;
  } catch (error) {
    return signal.aborted ? `${url.hostname} did not answer in time` : (error as Error).message.slice(0, 200);
  }
}

async function post(url: URL, ip: string, octets: Uint8Array, signal: AbortSignal): Promise<number> {
  const sent = request({
    method: 'POST',
    host: ip,
    port: Number(url.port || 443),
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, 'content-type': 'application/tlsrpt+gzip', 'content-length': String(octets.byteLength) },
    servername: isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? url.hostname : '',
    rejectUnauthorized: false,
    agent: false,
    signal,
  });
  const response = responseTo(sent);
  sent.end(octets);
  const answer = await response;
  answer.destroy();
  return answer.statusCode ?? 0;
}
