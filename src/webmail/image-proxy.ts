import { request as plainRequest, type IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppContext } from '../core/app-context.ts';
import { strangersNetworks } from '../core/networks.ts';
import { isOwnPage } from '../http/own-page.ts';
import { KeyedSemaphore } from '../../mail/limits/keyed-semaphore.ts';
import type { MemoryReservation } from '../../mail/limits/memory-budget.ts';
import { networkOf } from '../../mail/guard/network.ts';
import { type Login, memoryHolderOf } from '../../mail/login/types.ts';
import { responseTo } from '../../mail/limits/http-response.ts';
import { findMailSession } from '../webmail-sessions/commands.ts';
import { checkWebhookUrl } from '../webhooks/url-check.ts';
import { sessionOf } from './sign-in.ts';

const MAX_IMAGE_OCTETS = 10 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
/** Images that one account loads at once. */
const MAX_CONCURRENT = 8;
/** Raster images only: SVG is a document. */
const TYPES = /^image\/(?:png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)$/;

/**
 * `GET /mail/image?url=`: loads a remote image of a message for a signed-in reader, once they asked for images. The sender sees
 * the box, not the reader: no cookies, no address, no program. Private networks are refused as for webhooks (SSRF).
 */
export function imageRoute(context: AppContext, app: FastifyInstance): void {
  const running = new KeyedSemaphore({ credential: MAX_CONCURRENT });
  app.get('/mail/image', async (request, reply) => {
    const login = await readerOf(context, request);
    if (login === undefined) return refuse(reply, 403, 'Sign in to web mail to load images.');
    using permit = running.tryAcquire({ credential: login.account });
    if (permit === undefined) return refuse(reply, 429, `At most ${MAX_CONCURRENT} images load at once. Try again.`);
    const { url } = request.query as { url?: unknown };
    const memory = context.memory.open([memoryHolderOf(login), networkOf(request.ip)]);
    reply.raw.once('close', () => memory[Symbol.dispose]());
    return await loadImage(context, typeof url === 'string' ? url : '', memory, reply);
  });
}

/** The login of the session, for requests of web mail's own documents. */
async function readerOf(context: AppContext, request: FastifyRequest): Promise<Login | undefined> {
  const hash = sessionOf(request);
  if (hash === undefined || !isOwnPage(context, request)) return undefined;
  return (await context.store.read(findMailSession, { hash, now: context.clock() }))?.login;
}

async function loadImage(
  { settings, lookNow }: AppContext,
  text: string,
  memory: MemoryReservation,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const allowed = strangersNetworks(settings.allowPrivateNetworks);
  const checked = await checkWebhookUrl(text.replace(/^http:/, 'https:'), allowed, lookNow);
  if ('problem' in checked) return refuse(reply, 422, `${checked.problem}.`);
  const [ip] = checked.addresses;
  if (ip === undefined) return refuse(reply, 422, 'The host of the image is not known.');
  const late = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const answer = await fetchImage(new URL(checked.url), ip, late);
    const type = (answer.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
    if (answer.statusCode !== 200 || !TYPES.test(type)) {
      answer.destroy();
      return refuse(reply, 422, 'The address has no image.');
    }
    const octets = await bounded(answer, memory);
    if (octets === undefined)
      return refuse(reply, 422, 'The image has more than 10 MiB, or the server has no memory left for it now.');
    void reply
      .header('cache-control', 'private, max-age=86400')
      .header('content-security-policy', "default-src 'none'; sandbox");
    return reply.type(type).send(octets);
  } catch {
    return refuse(reply, 504, 'The image could not be loaded.');
  }
}

function fetchImage(url: URL, ip: string, signal: AbortSignal): Promise<IncomingMessage> {
  const tls = url.protocol === 'https:';
  const request = (tls ? tlsRequest : plainRequest)({
    method: 'GET',
    // The checked address, so that no lookup follows; the certificate is checked against the host's name.
    host: ip,
    ...(isIP(url.hostname) === 0 && { servername: url.hostname }),
    port: url.port === '' ? (tls ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, accept: 'image/*', 'user-agent': 'Mailstead image proxy' },
    agent: false,
    signal,
  });
  const answer = responseTo(request);
  request.end();
  return answer;
}

/** Reads the whole image; undefined if it is too large or the memory does not suffice. */
async function bounded(answer: IncomingMessage, memory: MemoryReservation): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > MAX_IMAGE_OCTETS || !memory.tryGrow(piece.length)) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces, size);
}

function refuse(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).type('text/plain; charset=utf-8').send(text);
}
