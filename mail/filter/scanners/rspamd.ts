import { type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { responseTo } from '../../limits/http-response.ts';
import type { Finding } from '../../policy/finding.ts';
import { rspamdFindings } from './rspamd-response.ts';
import { type ScannedMessage, type Scanner, ScanError } from './scanner.ts';

/** Octets of a response; a real one has some kilobytes. */
const MAX_RESPONSE = 256 * 1024;
/** Recipients that are passed on, in one header field each. */
const MAX_RECIPIENTS = 100;

/** Client of an Rspamd server, by its HTTP protocol. */
export class Rspamd implements Scanner {
  readonly name = 'Rspamd';
  readonly label = 'rspamd';
  readonly maxSize: number;
  readonly #url: URL;

  /** `url`: the normal worker, such as `http://127.0.0.1:11333`. */
  constructor(url: string, maxSize = 32 * 1024 * 1024) {
    this.#url = new URL('checkv2', url.endsWith('/') ? url : `${url}/`);
    this.maxSize = maxSize;
  }

  async scan(mail: ScannedMessage, signal: AbortSignal): Promise<readonly Finding[]> {
    return rspamdFindings(await this.#post(mail, signal));
  }

  async #post(mail: ScannedMessage, signal: AbortSignal): Promise<string> {
    const send = this.#url.protocol === 'https:' ? overHttps : overHttp;
    // A new connection each time: a kept one may be closed, and the message would have to be sent again.
    const request = send(this.#url, { method: 'POST', agent: false, headers: headersOf(mail), signal });
    const response = responseTo(request);
    // The response may come before the whole body is sent, and counts.
    const sent = pipeline(Readable.from(mail.octets()), request, { signal }).catch(() => undefined);
    try {
      return await textOf(await response);
    } catch (error) {
      throw error instanceof ScanError ? error : new ScanError('no response', { cause: error });
    } finally {
      request.destroy();
      await sent;
    }
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  if (response.statusCode !== 200) throw new ScanError(`HTTP status ${response.statusCode ?? 0}`);
  const chunks: Buffer[] = [];
  let octets = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    octets += chunk.length;
    if (octets > MAX_RESPONSE) throw new ScanError('the response is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Header fields of the request. `User` is left out: an outside sender is not logged in. */
function headersOf({ trace, peer, sender, recipients, size }: ScannedMessage): Record<string, string | string[]> {
  return {
    'Content-Length': String(size),
    'Queue-Id': headerValue(trace),
    IP: headerValue(peer.ip),
    Helo: headerValue(peer.helo),
    ...(peer.name !== '' && { Hostname: headerValue(peer.name) }),
    From: headerValue(sender),
    Rcpt: recipients.slice(0, MAX_RECIPIENTS).map(headerValue),
  };
}

/** Sanitizes untrusted text for a header field: octets of UTF-8 without control characters. */
function headerValue(text: string): string {
  return Buffer.from(text.slice(0, 512), 'utf8')
    .toString('latin1')
    .replace(/[\x00-\x1f\x7f]/g, '?');
}
