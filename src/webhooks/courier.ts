import type { PrivateNetworks } from '../../config/parse.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { Log, Meter } from '../../mail/log.ts';
import { type Arrival, dueArrivals, nextArrival, storedMessage } from '../../mail/store/arrival.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { judgeWebhookUrl } from '../sending/webhook-url.ts';
import { type AttemptEnd, endWebhookAttempt, type Target, webhookTarget } from './commands.ts';
import { inboundBody } from './payload.ts';
import { post, type Posted } from './post.ts';
import { nextTry } from './schedule.ts';
import { signedHeaders, WEBHOOK_PURPOSE } from './sign.ts';

const MOST = 100;
const MOST_OF_A_HOST = 10;
const LONGEST_SLEEP_MS = 30_000;
const PAUSE_MS = 5_000;
const SOON_MS = 25;

export interface CourierOptions {
  store: MailStore;
  secrets: SecretBox;
  settings: { allowPrivateNetworks: PrivateNetworks };
  /** Remembers nothing: a name may have moved. */
  lookNow: Resolver;
  clock: () => number;
  random?: () => number;
  baseUrl: () => string;
  version: string;
  log: Log;
  metrics: Meter;
}

/**
 * Tells webhooks what arrived: the oldest of each mailbox, the next one when that was told or given up. At least once:
 * what a crash interrupts is told again, under the same id.
 */
export class Courier implements AsyncDisposable {
  readonly #options: CourierOptions;
  /** Accounts whose receiver is being told right now. */
  readonly #busy = new Map<number, Promise<void>>();
  readonly #hosts = new Map<string, number>();
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #closing = false;

  constructor(options: CourierOptions) {
    this.#options = options;
    // A busy box commits a thousand times a second: one look serves all that arrived meanwhile.
    this.#stopListening = options.store.onWakeUp(() => (this.#soon ??= setTimeout(() => this.look(), SOON_MS).unref()));
    this.look();
  }

  /** Looks for what is due. Calls that come while it looks are one more look. */
  look(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    if (this.#closing) return;
    if (this.#looking !== undefined) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#looking = this.#look().then((sleep) => {
      this.#looking = undefined;
      if (this.#closing) return;
      if (this.#again) {
        this.#again = false;
        return this.look();
      }
      this.#timer = setTimeout(() => this.look(), sleep).unref();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    this.#stopListening();
    clearTimeout(this.#timer);
    clearTimeout(this.#soon);
    await this.#looking;
    await Promise.all(this.#busy.values());
  }

  /** Begins what is due and answers how long to sleep then, ms. */
  async #look(): Promise<number> {
    const { store, clock, log } = this.#options;
    try {
      const room = MOST - this.#busy.size;
      const not = [...this.#busy.keys()];
      const due = room <= 0 ? [] : await store.read(dueArrivals, { now: clock(), not, limit: room });
      for (const arrival of due) await this.#begin(arrival);
      // What is being told now looks again when it ends.
      const next = await store.read(nextArrival, { not: [...this.#busy.keys()] });
      return next === undefined ? LONGEST_SLEEP_MS : Math.min(LONGEST_SLEEP_MS, Math.max(200, next - clock()));
    } catch (error) {
      log.error({ err: error }, 'webhooks could not be looked at');
      return PAUSE_MS;
    }
  }

  async #begin(arrival: Arrival): Promise<void> {
    const { store, log } = this.#options;
    const target = await store.read(webhookTarget, { account: arrival.account });
    if (target === undefined || this.#busy.has(arrival.account)) return;
    const { host } = new URL(target.url);
    if ((this.#hosts.get(host) ?? 0) >= MOST_OF_A_HOST) return;
    this.#hosts.set(host, (this.#hosts.get(host) ?? 0) + 1);
    const run = this.#tell(arrival, target)
      .catch((error: unknown) => log.error({ err: error, account: arrival.account }, 'a webhook could not be told'))
      .finally(() => {
        this.#busy.delete(arrival.account);
        const left = (this.#hosts.get(host) ?? 1) - 1;
        if (left === 0) this.#hosts.delete(host);
        else this.#hosts.set(host, left);
        this.look();
      });
    this.#busy.set(arrival.account, run);
  }

  async #tell(arrival: Arrival, target: Target): Promise<void> {
    const { store, log, metrics } = this.#options;
    const body = await this.#body(arrival, target);
    const began = performance.now();
    const posted = body === undefined ? GONE : await this.#post(arrival, target, body);
    const end = this.#endOf(arrival, posted);
    const { status, problem, response } = posted;
    const { id, account, email } = arrival;
    const durationMs = Math.round(performance.now() - began);
    const attempt = { account, arrival: id, email, url: target.url, status, problem, response, durationMs };
    await store.write(endWebhookAttempt, { attempt, end });
    metrics.count('webhook_attempts_total', { outcome: end.kind });
    log.info({ account, arrival: id, status, problem, outcome: end.kind, ms: durationMs }, 'webhook');
  }

  #endOf({ attempts }: Arrival, { problem }: Posted): AttemptEnd {
    if (problem === null) return { kind: 'told' };
    const { clock, random = Math.random } = this.#options;
    const at = nextTry(attempts + 1, clock(), random);
    return at === undefined ? { kind: 'dead' } : { kind: 'later', at };
  }

  /** Undefined when the message is gone for good. */
  async #body({ account, email }: Arrival, { address }: Target): Promise<Buffer | undefined> {
    const { store, secrets, baseUrl, clock } = this.#options;
    const stored = await store.read(storedMessage, { account, email });
    if (stored === undefined) return undefined;
    const blob = await store.blob(stored.blob, 0, stored.length);
    const links = { baseUrl: baseUrl(), key: secrets.subkey('attachment links'), now: clock() };
    return inboundBody(address, email, stored, blob, links);
  }

  async #post({ id, account }: Arrival, target: Target, body: Buffer): Promise<Posted> {
    const { settings, lookNow, secrets, clock, version } = this.#options;
    const judged = await judgeWebhookUrl(target.url, settings.allowPrivateNetworks, lookNow);
    if ('problem' in judged) return { status: null, problem: judged.problem, response: '' };
    const [ip] = judged.addresses;
    if (ip === undefined) return { status: null, problem: 'the host cannot be looked up', response: '' };
    const secret = secrets.open(WEBHOOK_PURPOSE, 'webhook', account, target.secret).toString();
    const headers = {
      'content-type': 'application/json',
      'user-agent': `Mailstead/${version}`,
      ...signedHeaders(secret, body, { id: `whd_${id}`, at: clock() }),
    };
    return post(new URL(judged.url), ip, headers, body);
  }
}

const GONE: Posted = { status: null, problem: null, response: 'the message was deleted before it could be told' };
