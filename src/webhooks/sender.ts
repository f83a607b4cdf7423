import type { PrivateNetworks } from '../../config/parse.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { Semaphore } from '../../mail/limits/semaphore.ts';
import type { WebhookEvent, WebhookEventOutcome } from '../../mail/store/notification/webhook-event.ts';
import { SecretUnreadable, type SecretBox } from '../../mail/store/blob/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { checkWebhookUrl } from './url-check.ts';
import { deliveryId } from './delivery-id.ts';
import { outboundBody } from './event-body.ts';
import { eventFacts } from './event-queries.ts';
import { inboundWebhookBody, type WebhookBody } from './inbound-queries.ts';
import { Poster, type PostResult, type PostRequest } from './post.ts';
import { type WebhookTarget, webhookTarget } from './queries.ts';
import { webhookSignatureHeaders, secretRow, WEBHOOK_PURPOSE } from './sign.ts';
import { createHash } from 'node:crypto';

const ATTEMPT_TIMEOUT_MS = 10_000;
/** Octets of a message that is read in this thread; larger ones are read in the reader thread. */
const MAX_INLINE_OCTETS = 64 * 1024;
/** Concurrent large bodies: each can take 5 MiB until sent. */
const MAX_CONCURRENT_LARGE = 6;

export interface WebhookSenderOptions {
  store: MailStore;
  secrets: SecretBox;
  settings: { allowPrivateNetworks: PrivateNetworks };
  /** A resolver without cache, because addresses may have changed. */
  lookNow: Resolver;
  clock: () => number;
  random?: () => number;
  baseUrl: () => string;
  version: string;
  /** Replaced in tests. */
  poster?: Pick<Poster, 'post'> & Disposable;
}

/** One finished delivery attempt. */
export interface SentAttempt {
  target: WebhookTarget;
  end: WebhookEventOutcome;
  posted: PostResult;
  /** '' when nothing was sent. */
  request: string;
  durationMs: number;
}

/** Delivers one event to one receiver. */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #poster: Pick<Poster, 'post'> & Disposable;
  readonly #large = new Semaphore({ limit: MAX_CONCURRENT_LARGE });
  readonly #running = new Set<AbortController>();
  #aborted = false;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    this.#poster = options.poster ?? new Poster();
  }

  /**
   * Delivers an event. `silent`: not for this webhook. `removed`: the webhook was deleted, or this is closing. Throws when
   * the store cannot be read.
   */
  async send(listener: number, notice: WebhookEvent): Promise<SentAttempt | 'silent' | 'removed'> {
    const target = await this.#options.store.read(webhookTarget, { listener });
    if (target === undefined) return 'removed';
    using _permit = notice.size > MAX_INLINE_OCTETS ? await this.#large.acquire() : undefined;
    const body = await this.#body(notice, target);
    if (body.kind === 'gone') return 'silent';
    const began = performance.now();
    const sent =
      body.kind === 'body'
        ? await this.#attempt(notice, target, body.body)
        : { posted: failed('failed to read the message from the disk'), request: '' };
    if (sent === 'removed') return 'removed';
    const end = this.#endOf(notice, sent.posted);
    return { target, end, ...sent, durationMs: Math.round(performance.now() - began) };
  }

  /** Aborts every request. Unfinished ones are sent again after the next start. */
  abort(): void {
    this.#aborted = true;
    for (const one of this.#running) one.abort();
  }

  close(): void {
    this.#poster[Symbol.dispose]();
  }

  async #body(notice: WebhookEvent, target: WebhookTarget): Promise<WebhookBody> {
    const { store, secrets, baseUrl, clock } = this.#options;
    const { email, trace, account } = notice;
    if (target.account === null || email === null) {
      const facts = await store.read(eventFacts, { organization: target.organization, trace, account });
      const otherProject = target.project !== null && target.project !== facts.project;
      return otherProject ? { kind: 'gone' } : { kind: 'body', body: outboundBody(notice, facts) };
    }
    if (notice.size === 0) return { kind: 'gone' };
    const links = { baseUrl: baseUrl(), key: Uint8Array.from(secrets.subkey('attachment links')), now: clock() };
    const blobs = store.files.directory;
    const input = { account: target.account, email, mailbox: target.address, blobs, links };
    return notice.size > MAX_INLINE_OCTETS
      ? store.scan(inboundWebhookBody, input)
      : store.read(inboundWebhookBody, input);
  }

  async #attempt(
    notice: WebhookEvent,
    target: WebhookTarget,
    body: Uint8Array,
  ): Promise<{ posted: PostResult; request: string } | 'removed'> {
    const { settings, lookNow, store } = this.#options;
    const checked = await checkWebhookUrl(target.url, settings.allowPrivateNetworks, lookNow);
    if ('problem' in checked) return { posted: failed(checked.problem), request: '' };
    const [ip] = checked.addresses;
    if (ip === undefined) return { posted: failed('failed to look up the host'), request: '' };
    // Read again: the webhook may have been deleted or changed during the DNS lookup.
    const now = await store.read(webhookTarget, { listener: target.listener });
    if (now === undefined || this.#aborted) return 'removed';
    if (now.url !== target.url) return this.#attempt(notice, now, body);
    const secret = this.#secretOf(now);
    if (secret === undefined) return { posted: failed('failed to decrypt the secret: rotate it'), request: '' };
    const url = new URL(checked.url);
    const posted = await this.#post({ url, ip, body, headers: this.#headers(secret, body, notice) });
    return posted === undefined ? 'removed' : { posted, request: requestExcerpt(url, notice.event, body) };
  }

  /** Sends the request. Undefined when this is closing and there was no response. */
  async #post(posting: PostRequest): Promise<PostResult | undefined> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), ATTEMPT_TIMEOUT_MS);
    this.#running.add(late);
    try {
      const posted = await this.#poster.post(posting, late.signal);
      return this.#aborted && posted.status === null ? undefined : posted;
    } finally {
      clearTimeout(timer);
      this.#running.delete(late);
    }
  }

  #headers(secret: string, body: Uint8Array, { id }: WebhookEvent): Record<string, string> {
    const { version, clock } = this.#options;
    return {
      'content-type': 'application/json',
      'user-agent': `Mailstead/${version}`,
      ...webhookSignatureHeaders(secret, body, { id: deliveryId(id), at: clock() }),
    };
  }

  #secretOf(target: WebhookTarget): string | undefined {
    try {
      return this.#options.secrets.open(WEBHOOK_PURPOSE, 'webhook', secretRow(target), target.secret).toString();
    } catch (error) {
      if (error instanceof SecretUnreadable) return undefined;
      throw error;
    }
  }

  #endOf({ attempts }: WebhookEvent, { problem }: PostResult): WebhookEventOutcome {
    if (problem === null) return { kind: 'told' };
    const { clock, random = Math.random } = this.#options;
    const at = nextAttemptAt(attempts + 1, clock(), random);
    return at === undefined ? { kind: 'dead' } : { kind: 'later', at };
  }
}

const failed = (problem: string): PostResult => ({ status: null, problem, response: '' });

const S = 1_000;
const M = 60 * S;
const H = 60 * M;

/** Delay after each failed attempt; about 32 hours in total. */
const RETRY_DELAYS_MS = [5 * S, 30 * S, 2 * M, 10 * M, 30 * M, H, 2 * H, 4 * H, 8 * H, 16 * H];

/** The time of the next attempt after `failed` attempts; undefined: no more retries. `random` in [0, 1). */
function nextAttemptAt(failed: number, now: number, random: () => number): number | undefined {
  const wait = RETRY_DELAYS_MS[failed - 1];
  return wait === undefined ? undefined : now + Math.round(wait * (0.9 + 0.2 * random()));
}

const MAX_EXCERPT_CHARACTERS = 1_000;
/** Fields of `email.inbound` without mail content. */
const PLAIN_FIELDS = new Set(['messageId', 'receivedAt']);

/**
 * The stored excerpt of a request: its line, size and hash, and the begin of its body. For received mail only the shape of
 * the body: the delivery log outlives the message, and its readers may not have access to the mail.
 */
export function requestExcerpt(url: URL, event: string, body: Uint8Array): string {
  const hash = createHash('sha256').update(body).digest('hex');
  const head = `POST ${url.pathname} ${body.byteLength} octets, sha256 ${hash}`;
  // inboundShape skips large bodies: parsing them would block the event loop.
  const shown = event === 'received' ? inboundShape(body) : Buffer.from(body).toString('utf8');
  return `${head}\n${shown}`.slice(0, MAX_EXCERPT_CHARACTERS).toWellFormed();
}

function inboundShape(body: Uint8Array): string {
  if (body.byteLength > 64 * 1024) return '(a large message)';
  const { message, ...rest } = JSON.parse(Buffer.from(body).toString('utf8')) as {
    message: Record<string, string | readonly unknown[]>;
  };
  const shape = Object.entries(message).map(([name, value]) => [
    name,
    PLAIN_FIELDS.has(name) ? value : Array.isArray(value) ? `(${value.length})` : `(${value.length} characters)`,
  ]);
  return JSON.stringify({ ...rest, message: Object.fromEntries(shape) as object });
}
