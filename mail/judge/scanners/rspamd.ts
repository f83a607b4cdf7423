import { type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Finding } from '../../policy/finding.ts';
import { rspamdFindings } from './rspamd-answer.ts';
import { type Scanned, type Scanner, ScanTrouble } from './scanner.ts';

/** Of an answer; a real one has some kilobytes. */
const MOST_ANSWER = 256 * 1024;
/** Header fields: Rspamd reads one for each recipient. */
const MOST_RECIPIENTS = 100;

/** Asks an Rspamd server, by its HTTP protocol. */
export class Rspamd implements Scanner {
  readonly name = 'Rspamd';
  readonly label = 'rspamd';
  readonly largest: number;
  readonly #url: URL;

  /** `url`: of its normal worker, as `http://127.0.0.1:11333`. */
  constructor(url: string, largest = 32 * 1024 * 1024) {
    this.#url = new URL('checkv2', url.endsWith('/') ? url : `${url}/`);
    this.largest = largest;
  }

  async scan(mail: Scanned, signal: AbortSignal): Promise<readonly Finding[]> {
    return rspamdFindings(await this.#ask(mail, signal));
  }

  async #ask(mail: Scanned, signal: AbortSignal): Promise<string> {
    const ask = this.#url.protocol === 'https:' ? overHttps : overHttp;
    // A connection of its own: one that is kept may be gone, and the message would have to be sent again.
    const request = ask(this.#url, { method: 'POST', agent: false, headers: headersOf(mail), signal });
    const answered = answerTo(request);
    // An answer may come before the body is sent, and is one.
    const sent = pipeline(Readable.from(mail.octets()), request, { signal }).catch(() => undefined);
    try {
      return await textOf(await answered);
    } catch (error) {
      throw error instanceof ScanTrouble ? error : new ScanTrouble('it does not answer', { cause: error });
    } finally {
      request.destroy();
      await sent;
    }
  }
}

function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.once('response', resolve);
  // Not once: the connection may break a second time when it is torn down.
  request.on('error', reject);
  return promise;
}

async function textOf(response: IncomingMessage): Promise<string> {
  if (response.statusCode !== 200) throw new ScanTrouble(`it answers with HTTP ${response.statusCode ?? 0}`);
  const chunks: Buffer[] = [];
  let octets = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    octets += chunk.length;
    if (octets > MOST_ANSWER) throw new ScanTrouble('its answer has no end');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Nobody is named as `User`: who writes from outside did not log in. */
function headersOf({ trace, peer, sender, recipients, size }: Scanned): Record<string, string | string[]> {
  return {
    'Content-Length': String(size),
    'Queue-Id': written(trace),
    IP: written(peer.ip),
    Helo: written(peer.helo),
    ...(peer.name !== '' && { Hostname: written(peer.name) }),
    From: written(sender),
    Rcpt: recipients.slice(0, MOST_RECIPIENTS).map(written),
  };
}

/** What a stranger chose, as it may stand in a header: octets of UTF-8, none of which ends the line. */
function written(text: string): string {
  return Buffer.from(text.slice(0, 512), 'utf8')
    .toString('latin1')
    .replace(/[\x00-\x1f\x7f]/g, '?');
}
