import type { PrivateNetworks } from '../../config/parse.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { Notice, NoticeEnd } from '../../mail/store/notice.ts';
import { SecretUnreadable, type SecretBox } from '../../mail/store/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { judgeWebhookUrl } from '../sending/webhook-url.ts';
import { deliveryId } from './delivery-id.ts';
import { outboundBody } from './event-body.ts';
import { eventFacts } from './event-queries.ts';
import { inboundWebhookBody, type WebhookBody } from './inbound-queries.ts';
import { Poster, type Posted, type Posting } from './post.ts';
import { type Target, webhookTarget } from './queries.ts';
import { requestExcerpt } from './request-excerpt.ts';
import { nextTry } from './schedule.ts';
import { signedHeaders, secretRow, WEBHOOK_PURPOSE } from './sign.ts';
import { Turnstile } from './turnstile.ts';

const LONGEST_MS = 10_000;
/** Messages up to this are read here and now; larger ones by the reader thread. */
const SMALL = 64 * 1024;
/** Large bodies at the same time: each may take 5 MiB until it is told. */
const MOST_LARGE = 6;

export interface TellerOptions {
  store: MailStore;
  secrets: SecretBox;
  settings: { allowPrivateNetworks: PrivateNetworks };
  /** Remembers nothing: a name may have moved. */
  lookNow: Resolver;
  clock: () => number;
  random?: () => number;
  baseUrl: () => string;
  version: string;
  /** What connects; a test has one that does not. */
  poster?: Pick<Poster, 'post'> & Disposable;
}

/** How one notice was told. */
export interface Told {
  target: Target;
  end: NoticeEnd;
  posted: Posted;
  /** '' when nothing was sent. */
  request: string;
  durationMs: number;
}

/** Tells one receiver of one notice. */
export class Teller {
  readonly #options: TellerOptions;
  readonly #poster: Pick<Poster, 'post'> & Disposable;
  readonly #large = new Turnstile(MOST_LARGE);
  readonly #running = new Set<AbortController>();
  #hurried = false;

  constructor(options: TellerOptions) {
    this.#options = options;
    this.#poster = options.poster ?? new Poster();
  }

  /**
   * `silent`: nobody is told of this, so it is done with. `removed`: there is no such webhook any more, or this is
   * closing. Throws when the store cannot be read: then nothing is known.
   */
  async tell(listener: number, notice: Notice): Promise<Told | 'silent' | 'removed'> {
    const target = await this.#options.store.read(webhookTarget, { listener });
    if (target === undefined) return 'removed';
    using _ = notice.size > SMALL ? await this.#large.pass() : undefined;
    const made = await this.#body(notice, target);
    if (made.kind === 'gone') return 'silent';
    const began = performance.now();
    const sent =
      made.kind === 'body'
        ? await this.#send(notice, target, made.body)
        : { posted: failed('the message cannot be read from the disk'), request: '' };
    if (sent === 'removed') return 'removed';
    const end = this.#endOf(notice, sent.posted);
    return { target, end, ...sent, durationMs: Math.round(performance.now() - began) };
  }

  /** Hangs up on every receiver. What was not answered is told again after the next start. */
  hurry(): void {
    this.#hurried = true;
    for (const one of this.#running) one.abort();
  }

  close(): void {
    this.#poster[Symbol.dispose]();
  }

  async #body(notice: Notice, target: Target): Promise<WebhookBody> {
    const { store, secrets, baseUrl, clock } = this.#options;
    const { email, trace, account } = notice;
    if (target.account === null || email === null) {
      const facts = await store.read(eventFacts, { organization: target.organization, trace, account });
      const elsewhere = target.project !== null && target.project !== facts.project;
      return elsewhere ? { kind: 'gone' } : { kind: 'body', body: outboundBody(notice, facts) };
    }
    if (notice.size === 0) return { kind: 'gone' };
    const links = { baseUrl: baseUrl(), key: Uint8Array.from(secrets.subkey('attachment links')), now: clock() };
    const blobs = store.files.directory;
    const input = { account: target.account, email, mailbox: target.address, blobs, links };
    return notice.size > SMALL ? store.scan(inboundWebhookBody, input) : store.read(inboundWebhookBody, input);
  }

  async #send(
    notice: Notice,
    target: Target,
    body: Uint8Array,
  ): Promise<{ posted: Posted; request: string } | 'removed'> {
    const { settings, lookNow, store } = this.#options;
    const judged = await judgeWebhookUrl(target.url, settings.allowPrivateNetworks, lookNow);
    if ('problem' in judged) return { posted: failed(judged.problem), request: '' };
    const [ip] = judged.addresses;
    if (ip === undefined) return { posted: failed('the host cannot be looked up'), request: '' };
    // As it is at this moment: it may have been removed, moved or given another secret while we looked around.
    const now = await store.read(webhookTarget, { listener: target.listener });
    if (now === undefined || this.#hurried) return 'removed';
    if (now.url !== target.url) return this.#send(notice, now, body);
    const secret = this.#secretOf(now);
    if (secret === undefined) return { posted: failed('its secret cannot be read: rotate it'), request: '' };
    const url = new URL(judged.url);
    const posted = await this.#post({ url, ip, body, headers: this.#headers(secret, body, notice) });
    return posted === undefined ? 'removed' : { posted, request: requestExcerpt(url, notice.event, body) };
  }

  /** Undefined: this is closing, and there was no answer yet. */
  async #post(posting: Posting): Promise<Posted | undefined> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), LONGEST_MS);
    this.#running.add(late);
    try {
      const posted = await this.#poster.post(posting, late.signal);
      return this.#hurried && posted.status === null ? undefined : posted;
    } finally {
      clearTimeout(timer);
      this.#running.delete(late);
    }
  }

  #headers(secret: string, body: Uint8Array, { id }: Notice): Record<string, string> {
    const { version, clock } = this.#options;
    return {
      'content-type': 'application/json',
      'user-agent': `Mailstead/${version}`,
      ...signedHeaders(secret, body, { id: deliveryId(id), at: clock() }),
    };
  }

  #secretOf(target: Target): string | undefined {
    try {
      return this.#options.secrets.open(WEBHOOK_PURPOSE, 'webhook', secretRow(target), target.secret).toString();
    } catch (error) {
      if (error instanceof SecretUnreadable) return undefined;
      throw error;
    }
  }

  #endOf({ attempts }: Notice, { problem }: Posted): NoticeEnd {
    if (problem === null) return { kind: 'told' };
    const { clock, random = Math.random } = this.#options;
    const at = nextTry(attempts + 1, clock(), random);
    return at === undefined ? { kind: 'dead' } : { kind: 'later', at };
  }
}

const failed = (problem: string): Posted => ({ status: null, problem, response: '' });
