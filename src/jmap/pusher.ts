import { RateLimit } from '../../mail/guard/rate-limit.ts';
import type { Log, Meter } from '../../mail/log.ts';
import type { PushDesk } from '../../mail/jmap/method.ts';
import { jmapId } from '../../mail/jmap/ids.ts';
import { encryptPush, readPushKeys } from '../../mail/jmap/push/encrypt.ts';
import { ENDPOINT_PURPOSE } from '../../mail/jmap/push/subscription-setter.ts';
import { type StateChange, stateChange, type StateWatch } from '../../mail/jmap/push/watch.ts';
import {
  type PushEndpoint,
  type PushSubscription,
  pushSubscription,
  pushSubscriptions,
  removePushSubscription,
} from '../../mail/store/push-subscription.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import type { Poster } from '../webhooks/post.ts';
import { namedTypes } from './push-types.ts';
import type { Vapid } from './vapid.ts';

/** Tries of one push. What changes meanwhile goes with it; a device that was off asks for itself when it is on. */
const WAITS_MS = [1_000, 10_000, 60_000, 300_000];
const PATIENCE_MS = 10_000;
/** Subscriptions that one credential makes: each has us post to where it says. RFC 8620 8.7. */
const ASKED_A_MINUTE = 20;
/** A push that the service cannot bring within a day is of no use. RFC 8030 5.2. */
const TTL_S = 86_400;

export interface PusherOptions {
  store: Store;
  secrets: SecretBox;
  watch: StateWatch;
  vapid: Vapid;
  poster: Pick<Poster, 'post'> & Disposable;
  /** Judges a URL now and answers an address of it, or why nothing may go there. */
  judge: (url: string) => Promise<{ url: string; addresses: readonly string[] } | { problem: string }>;
  /** Whether a credential still opens anything. */
  holds: (credential: string) => Promise<boolean>;
  clock: () => number;
  log: Log;
  meter: Meter;
}

/** What one device has coming. */
interface Device {
  stop: () => void;
  /** Changes that were not told yet, newest states. */
  pending: StateChange['changed'] | undefined;
  tries: number;
  timer?: NodeJS.Timeout;
  sending: boolean;
}

/** Tells devices that are not connected, by way of their push services. RFC 8620 7.2, RFC 8030. */
export class Pusher implements PushDesk, Disposable {
  readonly #options: PusherOptions;
  readonly #devices = new Map<number, Device>();
  readonly #asked = new RateLimit(ASKED_A_MINUTE);
  readonly #closing = new AbortController();

  constructor(options: PusherOptions) {
    this.#options = options;
    this.#quietly(this.#begin(), 0);
  }

  get secrets(): SecretBox {
    return this.#options.secrets;
  }

  get publicKey(): string {
    return this.#options.vapid.publicKey;
  }

  async judge(url: string): Promise<string | undefined> {
    const judged = await this.#options.judge(url);
    return 'problem' in judged ? judged.problem : undefined;
  }

  mayAsk(credential: string): boolean {
    return this.#asked.take(credential, this.#options.clock()) === 0;
  }

  created(subscription: number): void {
    this.#quietly(this.#verify(subscription), subscription);
  }

  changed(subscription: number): void {
    this.#quietly(this.#reload(subscription), subscription);
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
    for (const id of this.#devices.keys()) this.#forget(id);
    this.#options.poster[Symbol.dispose]();
  }

  async #begin(): Promise<void> {
    const { store, clock } = this.#options;
    const all = await store.read(pushSubscriptions, { credential: null, now: clock() });
    for (const one of all.filter(({ verified }) => verified)) await this.#watch(one);
  }

  async #reload(id: number): Promise<void> {
    this.#forget(id);
    const { store, clock } = this.#options;
    const found = await store.read(pushSubscription, { id, now: clock() });
    if (found?.verified === true) await this.#watch(found);
  }

  /** RFC 8620 7.2.2: nothing else is told until the client has shown that it reads what comes here. */
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
    this.#options.log.info({ subscription: one.id, outcome }, 'push subscription: its code was sent');
  }

  async #watch(one: PushSubscription): Promise<void> {
    const types = one.types === null ? null : namedTypes(one.types);
    const device: Device = { stop: () => undefined, pending: undefined, tries: 0, sending: false };
    this.#devices.set(one.id, device);
    const accounts = new Map(one.accounts);
    const tell = ({ changed }: StateChange): void => {
      device.pending = merged(device.pending, changed);
      if (!device.sending && device.timer === undefined) this.#quietly(this.#send(one.id, device), one.id);
    };
    const stop = await this.#options.watch.add({ accounts, types, tell });
    if (this.#devices.get(one.id) === device) device.stop = stop;
    else stop();
  }

  async #send(id: number, device: Device): Promise<void> {
    device.sending = true;
    try {
      while (device.pending !== undefined && !this.#closing.signal.aborted) {
        const now = device.pending;
        device.pending = undefined;
        const outcome = await this.#tellOnce(id, now);
        if (outcome === 'gone') return this.#forget(id);
        if (outcome === 'later') return this.#retry(id, device, now);
        device.tries = 0;
      }
    } finally {
      device.sending = false;
    }
  }

  #retry(id: number, device: Device, missed: StateChange['changed']): void {
    const wait = WAITS_MS[device.tries++];
    if (wait === undefined) {
      device.tries = 0;
      device.pending = undefined;
      return;
    }
    device.pending = merged(missed, device.pending ?? {});
    device.timer = setTimeout(() => {
      delete device.timer;
      this.#quietly(this.#send(id, device), id);
    }, wait).unref();
  }

  async #tellOnce(id: number, changed: StateChange['changed']): Promise<'told' | 'later' | 'gone'> {
    const { store, clock, holds } = this.#options;
    // As it is now: it may have expired, or its credential been revoked.
    const one = await store.read(pushSubscription, { id, now: clock() });
    if (one === undefined) return 'gone';
    if (!(await holds(one.credential))) return this.#remove(id);
    // One account each: a push has room for 4 kB.
    for (const [account, types] of Object.entries(changed)) {
      const outcome = await this.#post(one, stateChange({ [account]: types }));
      if (outcome === 'gone') return this.#remove(id);
      if (outcome === 'later') return outcome;
    }
    return 'told';
  }

  async #remove(id: number): Promise<'gone'> {
    await this.#options.store.write(removePushSubscription, { id, credential: null });
    return 'gone';
  }

  async #post(one: PushSubscription, message: object): Promise<'told' | 'later' | 'gone'> {
    const { judge, poster, vapid, clock, meter } = this.#options;
    const endpoint = this.#endpointOf(one);
    const judged = await judge(endpoint.url);
    if ('problem' in judged) return 'later';
    const [ip] = judged.addresses;
    if (ip === undefined) return 'later';
    const url = new URL(judged.url);
    const plain = Buffer.from(JSON.stringify(message));
    const keys = endpoint.keys === null ? undefined : readPushKeys(endpoint.keys.p256dh, endpoint.keys.auth);
    const headers = {
      'content-type': 'application/json',
      ttl: String(TTL_S),
      authorization: vapid.authorization(url, clock()),
      ...(keys !== undefined && { 'content-encoding': 'aes128gcm' }),
    };
    const body = keys === undefined ? plain : encryptPush(plain, keys);
    const late = AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), this.#closing.signal]);
    const { status } = await poster.post({ url, ip, headers, body }, late);
    const outcome = outcomeOf(status);
    meter.count('jmap_pushes_total', { outcome });
    return outcome;
  }

  #endpointOf({ code, endpoint }: PushSubscription): PushEndpoint {
    const opened = this.#options.secrets.open(ENDPOINT_PURPOSE, 'push_subscription', code, endpoint);
    return JSON.parse(opened.toString()) as PushEndpoint;
  }

  #forget(id: number): void {
    const device = this.#devices.get(id);
    if (device === undefined) return;
    this.#devices.delete(id);
    clearTimeout(device.timer);
    device.pending = undefined;
    device.stop();
  }

  #quietly(work: Promise<void>, subscription: number): void {
    work.catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#options.log.error({ err: error, subscription }, 'a push failed');
    });
  }
}

/** RFC 8030 7.3 and 8.4: who is gone says 404 or 410; all else may pass. */
function outcomeOf(status: number | null): 'told' | 'later' | 'gone' {
  if (status === 404 || status === 410) return 'gone';
  return status !== null && status >= 200 && status < 300 ? 'told' : 'later';
}

function merged(before: StateChange['changed'] | undefined, now: StateChange['changed']): StateChange['changed'] {
  const all = { ...before };
  for (const [account, types] of Object.entries(now)) all[account] = { ...all[account], ...types };
  return all;
}
