import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { storedHeader } from '../../mail/store/message/message-header.ts';
import { KeyedSemaphore } from '../../mail/limits/keyed-semaphore.ts';
import { jmapRow } from '../../mail/store/object-id.ts';
import type { AppContext } from '../core/app-context.ts';
import { strangersNetworks } from '../core/networks.ts';
import { Fields } from '../portal/form-fields.ts';
import { unsubscribeOffer } from '../unsubscribe/offer.ts';
import { Poster } from '../webhooks/post.ts';
import { checkWebhookUrl } from '../webhooks/url-check.ts';
import { personOf, sendReaderProblem, sendJson } from './mail-reader.ts';

const MAX_HEADER_OCTETS = 256 * 1024;
const TIMEOUT_MS = 10_000;
/** Requests that one account makes at once. */
const MAX_CONCURRENT = 2;
const BODY = Buffer.from('List-Unsubscribe=One-Click');
const HEADERS = { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'Mailstead' };

/**
 * `POST /mail/unsubscribe`: unsubscribes a reader from the list of a message, by one request of this server if a signature
 * covers the address (RFC 8058); else the answer names the address of a mail or a page, which the reader sees first.
 */
export function unsubscribeRoute(context: AppContext, app: FastifyInstance): void {
  const poster = new Poster();
  const running = new KeyedSemaphore({ credential: MAX_CONCURRENT });
  app.addHook('onClose', async () => poster[Symbol.dispose]());
  app.post('/mail/unsubscribe', async (request, reply) => {
    const reader = await personOf(context, request, reply, true);
    if (reader === undefined) return reply;
    using permit = running.tryAcquire({ credential: reader.account });
    if (permit === undefined)
      return sendReaderProblem(reply, 429, 'Another request to unsubscribe is running. Try again.', 'unsubscribing');
    return unsubscribe(context, poster, reader.account, request, reply);
  });
}

async function unsubscribe(
  context: AppContext,
  poster: Poster,
  account: number,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const email = jmapRow('email', account, new Fields(request.body).text('email')) ?? 0;
  const found = await context.store.read(storedHeader, { account, email });
  if (found === undefined) return sendReaderProblem(reply, 404, 'The message does not exist any more.', 'no-message');
  const length = Math.min(found.length, MAX_HEADER_OCTETS);
  const header = (await context.store.blob(found.blob, 0, length)).toString('latin1');
  const offer = unsubscribeOffer(found.trace, header);
  if (offer.kind === 'none')
    return sendReaderProblem(reply, 404, 'The message offers no way to unsubscribe.', 'no-unsubscribe');
  if (offer.kind !== 'one-click') return sendJson(reply, offer);
  const failure = await requestOf(context, poster, offer.url);
  if (failure !== undefined) return sendReaderProblem(reply, 502, failure);
  return sendJson(reply, { kind: 'done', host: new URL(offer.url).hostname });
}

/** Sends the request; a sentence about its failure. The sender sees this server, no cookie and no address of the reader. */
async function requestOf({ settings, lookNow }: AppContext, poster: Poster, text: string): Promise<string | undefined> {
  const checked = await checkWebhookUrl(text, strangersNetworks(settings.allowPrivateNetworks), lookNow);
  if ('problem' in checked) return `Not unsubscribed: ${checked.problem}.`;
  const [ip] = checked.addresses;
  const url = new URL(checked.url);
  if (ip === undefined) return `Not unsubscribed: ${url.hostname} is not known.`;
  const done = await poster.post({ url, ip, headers: HEADERS, body: BODY }, AbortSignal.timeout(TIMEOUT_MS));
  if (done.problem === null) return undefined;
  return `Not unsubscribed: ${url.hostname}: ${done.status === null ? done.problem : `HTTP ${done.status}, ${done.problem}`}.`;
}
