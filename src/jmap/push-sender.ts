import { KeyedTokenBucket, perMinute } from '../../mail/limits/token-bucket.ts';
import type { Log, Meter } from '../../mail/log.ts';
import type { PushContext } from '../../mail/jmap/core/method.ts';
import { jmapId } from '../../mail/jmap/core/ids.ts';
import { encryptPush, readPushKeys } from '../../mail/jmap/push/push-encryption.ts';
import { ENDPOINT_PURPOSE } from '../../mail/jmap/push/push-subscription.ts';
import { type StateChange, stateChange, type StateWatch } from '../../mail/jmap/push/state-watch.ts';
import {
  type PushEndpoint,
  type PushSubscription,
  pushSubscription,
  pushSubscriptions,
  removePushSubscription,
} from '../../mail/store/notification/push-subscription.ts';
import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import type { Poster } from '../webhooks/post.ts';
import { namedTypes } from './push-types.ts';
import { createECDH, createPrivateKey, type KeyObject, sign } from 'node:crypto';

/** Delays between attempts; later changes are merged in. After the last, the device fetches changes itself. */
const RETRY_DELAYS_MS = [1_000, 10_000, 60_000, 300_000];
const TIMEOUT_MS = 10_000;
/** Each new subscription sends a request to a URL of the client's choice. RFC 8620 8.7. */
const MAX_VERIFICATIONS_PER_MINUTE = 20;
/** Push services discard messages after a day. RFC 8030 5.2. */
const TTL_SECONDS = 86_400;

export interface PusherOptions {
  store: Store;
  secrets: SecretBox;
  watch: StateWatch;
  vapid: Vapid;
  poster: Pick<Poster, 'post'> & Disposable;
  /** Resolves a URL and checks it against SSRF; returns its addresses or the problem. */
  checkUrl: (url: string) => Promise<{ url: string; addresses: readonly string[] } | { problem: string }>;
  /** Checks that a credential is still valid. */
  isCredentialValid: (credential: string) => Promise<boolean>;
  clock: () => number;
  log: Log;
  meter: Meter;
}

/** Pending pushes of one device. */
interface Device {
  stop: () => void;
  /** Unsent changes with the newest states. */
  pending: StateChange['changed'] | undefined;
  tries: number;
  timer?: NodeJS.Timeout;
  sending: boolean;
}

/** Sends state changes through push services. RFC 8620 7.2, RFC 8030. */
export class Pusher implements PushContext, Disposable {
  readonly #options: PusherOptions;
  readonly #devices = new Map<number, Device>();
  readonly #verifications = new KeyedTokenBucket(perMinute(MAX_VERIFICATIONS_PER_MINUTE));
  readonly #closing = new AbortController();

  constructor(options: PusherOptions) {
    this.#options = options;
    this.#logFailure(this.#begin(), 0);
  }

  get secrets(): SecretBox {
    return this.#options.secrets;
  }

  get publicKey(): string {
    return this.#options.vapid.publicKey;
  }

  async checkUrl(url: string): Promise<string | undefined> {
    const checked = await this.#options.checkUrl(url);
    return 'problem' in checked ? checked.problem : undefined;
  }

  mayVerify(credential: string): boolean {
    return this.#verifications.take(credential, this.#options.clock()) === 0;
  }

  created(subscription: number): void {
    this.#logFailure(this.#verify(subscription), subscription);
  }

  changed(subscription: number): void {
    this.#logFailure(this.#reload(subscription), subscription);
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
    for (const id of this.#devices.keys()) this.#dropDevice(id);
    this.#options.poster[Symbol.dispose]();
  }

  async #begin(): Promise<void> {
    const { store, clock } = this.#options;
    const all = await store.read(pushSubscriptions, { credential: null, now: clock() });
    for (const one of all.filter(({ verified }) => verified)) await this.#watch(one);
  }

  async #reload(id: number): Promise<void> {
    this.#dropDevice(id);
    const { store, clock } = this.#options;
    const found = await store.read(pushSubscription, { id, now: clock() });
    if (found?.verified === true) await this.#watch(found);
  }

  /** Sends the verification push; no changes are sent before the client confirms its code. RFC 8620 7.2.2. */
  async #verify(id: number): Promise<void> {
    const { store, clock } = this.#options;
    const one = await store.read(pushSubscription, { id, now: clock() });
    if (one === undefined) return;
    const message = {
      '@type': 'PushVerification',
      pushSubscriptionId: jmapId('pushSubscription', one.id),
      verificationCode: one.code,
    };
    const outcome = await this.#post(one, message);
    this.#options.log.info({ subscription: one.id, outcome }, 'push verification sent');
  }

  async #watch(one: PushSubscription): Promise<void> {
    const types = one.types === null ? null : namedTypes(one.types);
    const device: Device = { stop: () => undefined, pending: undefined, tries: 0, sending: false };
    this.#devices.set(one.id, device);
    const accounts = new Map(one.accounts);
    const notify = ({ changed }: StateChange): void => {
      device.pending = merged(device.pending, changed);
      if (!device.sending && device.timer === undefined) this.#logFailure(this.#send(one.id, device), one.id);
    };
    const stop = await this.#options.watch.add({ accounts, types, notify });
    if (this.#devices.get(one.id) === device) device.stop = stop;
    else stop();
  }

  async #send(id: number, device: Device): Promise<void> {
    device.sending = true;
    try {
      while (device.pending !== undefined && !this.#closing.signal.aborted) {
        const now = device.pending;
        device.pending = undefined;
        const outcome = await this.#pushOnce(id, now);
        if (outcome === 'gone') return this.#dropDevice(id);
        if (outcome === 'later') return this.#retry(id, device, now);
        device.tries = 0;
      }
    } finally {
      device.sending = false;
    }
  }

  #retry(id: number, device: Device, missed: StateChange['changed']): void {
    const wait = RETRY_DELAYS_MS[device.tries++];
    if (wait === undefined) {
      device.tries = 0;
      device.pending = undefined;
      return;
    }
    device.pending = merged(missed, device.pending ?? {});
    device.timer = setTimeout(() => {
      delete device.timer;
      this.#logFailure(this.#send(id, device), id);
    }, wait).unref();
  }

  async #pushOnce(id: number, changed: StateChange['changed']): Promise<'delivered' | 'later' | 'gone'> {
    const { store, clock, isCredentialValid } = this.#options;
    // Read again: it may have expired, or its credential may be revoked.
    const one = await store.read(pushSubscription, { id, now: clock() });
    if (one === undefined) return 'gone';
    if (!(await isCredentialValid(one.credential))) return this.#remove(id);
    // One push per account: a message has at most 4 kB.
    for (const [account, types] of Object.entries(changed)) {
      const outcome = await this.#post(one, stateChange({ [account]: types }));
      if (outcome === 'gone') return this.#remove(id);
      if (outcome === 'later') return outcome;
    }
    return 'delivered';
  }

  async #remove(id: number): Promise<'gone'> {
    await this.#options.store.write(removePushSubscription, { id, credential: null });
    return 'gone';
  }

  async #post(one: PushSubscription, message: object): Promise<'delivered' | 'later' | 'gone'> {
    const { checkUrl, poster, vapid, clock, meter } = this.#options;
    const endpoint = this.#endpointOf(one);
    const checked = await checkUrl(endpoint.url);
    if ('problem' in checked) return 'later';
    const [ip] = checked.addresses;
    if (ip === undefined) return 'later';
    const url = new URL(checked.url);
    const plain = Buffer.from(JSON.stringify(message));
    const keys = endpoint.keys === null ? undefined : readPushKeys(endpoint.keys.p256dh, endpoint.keys.auth);
    const headers = {
      'content-type': 'application/json',
      ttl: String(TTL_SECONDS),
      authorization: vapid.authorization(url, clock()),
      ...(keys !== undefined && { 'content-encoding': 'aes128gcm' }),
    };
    const body = keys === undefined ? plain : encryptPush(plain, keys);
    const late = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.#closing.signal]);
    const { status } = await poster.post({ url, ip, headers, body }, late);
    const outcome = outcomeOf(status);
    meter.count('jmap_pushes_total', { outcome });
    return outcome;
  }

  #endpointOf({ code, endpoint }: PushSubscription): PushEndpoint {
    const opened = this.#options.secrets.open(ENDPOINT_PURPOSE, 'push_subscription', code, endpoint);
    return JSON.parse(opened.toString()) as PushEndpoint;
  }

  #dropDevice(id: number): void {
    const device = this.#devices.get(id);
    if (device === undefined) return;
    this.#devices.delete(id);
    clearTimeout(device.timer);
    device.pending = undefined;
    device.stop();
  }

  #logFailure(work: Promise<void>, subscription: number): void {
    work.catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#options.log.error({ err: error, subscription }, 'failed to push');
    });
  }
}

/** 404 and 410 mean an expired subscription; other failures are retried. RFC 8030 7.3 and 8.4. */
function outcomeOf(status: number | null): 'delivered' | 'later' | 'gone' {
  if (status === 404 || status === 410) return 'gone';
  return status !== null && status >= 200 && status < 300 ? 'delivered' : 'later';
}

function merged(before: StateChange['changed'] | undefined, now: StateChange['changed']): StateChange['changed'] {
  const all = { ...before };
  for (const [account, types] of Object.entries(now)) all[account] = { ...all[account], ...types };
  return all;
}

/** Token lifetime; push services accept at most a day. RFC 8292 2. */
const VALID_S = 12 * 3600;

/** Identifies this server to push services (RFC 8292); the session has its public key (RFC 9749). */
export class Vapid {
  /** Uncompressed point, base64url. */
  readonly publicKey: string;
  readonly #key: KeyObject;
  readonly #subject: string;

  /** Derives the key from the box's secret, so that subscriptions survive a restart. `subject` is the contact URL. */
  constructor(secrets: SecretBox, subject: string) {
    const ecdh = createECDH('prime256v1');
    const secret = secrets.subkey('web push');
    ecdh.setPrivateKey(secret);
    const point = ecdh.getPublicKey();
    this.publicKey = point.toString('base64url');
    this.#subject = subject;
    const x = point.toString('base64url', 1, 33);
    const y = point.toString('base64url', 33);
    const jwk = { kty: 'EC', crv: 'P-256', x, y, d: secret.toString('base64url') };
    this.#key = createPrivateKey({ key: jwk, format: 'jwk' });
  }

  /** The Authorization header for a push to this URL. `now` is ms UTC. */
  authorization(url: URL, now: number): string {
    const claims = { aud: url.origin, exp: Math.floor(now / 1000) + VALID_S, sub: this.#subject };
    const text = [{ typ: 'JWT', alg: 'ES256' }, claims]
      .map((one) => Buffer.from(JSON.stringify(one)).toString('base64url'))
      .join('.');
    const signature = sign('sha256', Buffer.from(text), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    return `vapid t=${text}.${signature.toString('base64url')}, k=${this.publicKey}`;
  }
}
