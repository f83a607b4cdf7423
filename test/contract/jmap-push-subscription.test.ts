import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StateWatch } from '../../mail/jmap/push/state-watch.ts';
import { quiet } from '../../mail/log.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { SecretBox } from '../../mail/store/blob/secrets.ts';
import { appendMessage } from '../../mail/store/mailbox/entry-commands.ts';
import { Pusher, Vapid } from '../../src/jmap/push-sender.ts';
import type { PostResult, PostRequest } from '../../src/webhooks/post.ts';
import { createJmapFixture, type JmapFixture } from '../support/jmap-fixture.ts';

/** A device: its keys, and the requests its push service received. */
class Phone {
  readonly #ecdh = createECDH('prime256v1');
  readonly #auth = randomBytes(16);
  readonly keys: { p256dh: string; auth: string };
  readonly postings: PostRequest[] = [];
  status = 201;
  #wake = (): void => undefined;

  constructor() {
    this.keys = { p256dh: this.#ecdh.generateKeys('base64url'), auth: this.#auth.toString('base64url') };
  }

  post(posting: PostRequest): Promise<PostResult> {
    this.postings.push(posting);
    this.#wake();
    return Promise.resolve({ status: this.status, problem: null, response: '' });
  }

  /** Waits for the next push and decrypts it. */
  async next(): Promise<Record<string, unknown>> {
    while (this.postings.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    const { body = Buffer.alloc(0) } = this.postings.shift() ?? {};
    return JSON.parse(this.#decrypt(Buffer.from(body))) as Record<string, unknown>;
  }

  /** Decrypts a push. RFC 8291, 8188. */
  #decrypt(body: Buffer): string {
    const [salt, server, sealed] = [body.subarray(0, 16), body.subarray(21, 86), body.subarray(86)];
    const own = this.#ecdh.getPublicKey();
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), own, server]);
    const derive = (secret: Uint8Array, with_: Uint8Array, what: Uint8Array, length: number): Buffer =>
      Buffer.from(hkdfSync('sha256', secret, with_, what, length));
    const input = derive(this.#ecdh.computeSecret(server), this.#auth, info, 32);
    const key = derive(input, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
    const nonce = derive(input, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
    const decipher = createDecipheriv('aes-128-gcm', key, nonce);
    decipher.setAuthTag(sealed.subarray(-16));
    const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
    return plain.subarray(0, -1).toString();
  }
}

let fixture: JmapFixture;
let phone: Phone;
let pusher: Pusher;
let watch: StateWatch;
let holds: boolean;
/** Number of watches started so far. */
let watchers: number;

beforeEach(async () => {
  fixture = await createJmapFixture();
  phone = new Phone();
  holds = true;
  watch = new StateWatch(fixture.box.store, quiet);
  watchers = 0;
  const add = watch.add.bind(watch);
  watch.add = (watcher) => add(watcher).finally(() => watchers++);
  const secrets = new SecretBox(randomBytes(32));
  pusher = new Pusher({
    store: fixture.box.store,
    secrets,
    watch,
    vapid: new Vapid(secrets, 'mailto:postmaster@box.test'),
    poster: { post: (posting) => phone.post(posting), [Symbol.dispose]: () => undefined },
    checkUrl: (url) =>
      Promise.resolve(url.includes('inside') ? { problem: 'it is inside' } : { url, addresses: ['192.0.2.1'] }),
    isCredentialValid: () => Promise.resolve(holds),
    clock: () => fixture.box.clock.now,
    log: quiet,
    meter: quiet,
  });
  Object.assign(fixture.context, { push: pusher });
});
afterEach(async () => {
  vi.useRealTimers();
  pusher[Symbol.dispose]();
  watch[Symbol.dispose]();
  await fixture[Symbol.asyncDispose]();
});

/** Calls without accountId: subscriptions have no account. */
async function call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { methodResponses } = await fixture.request([[name, args, 'c']]);
  return methodResponses[0]?.[1] ?? {};
}

const wanted = () => ({ deviceClientId: 'phone-1', url: 'https://push.test/abc', keys: phone.keys, types: ['Email'] });

async function subscribe(): Promise<string> {
  const { created } = await call('PushSubscription/set', { create: { k: wanted() } });
  const { id } = (created as { k: { id: string } }).k;
  const { pushSubscriptionId, verificationCode } = await phone.next();
  expect(pushSubscriptionId).toBe(id);
  const before = watchers;
  expect(await call('PushSubscription/set', { update: { [id]: { verificationCode } } })).toMatchObject({
    updated: { [id]: null },
  });
  // The watch starts after the response.
  await expect.poll(() => watchers, { interval: 5 }).toBeGreaterThan(before);
  return id;
}

async function append(): Promise<void> {
  const data = new Uint8Array(Buffer.from('Subject: x\r\n\r\nx\r\n'));
  const { account, inbox: mailbox } = fixture;
  const flags = { bits: 0, keywords: [] };
  const index = indexMessage(data);
  await fixture.box.store.write(appendMessage, { account, mailbox, flags, receivedAt: 1, file: null, data, index });
}

test('a device gets changes after it confirms the verification code', async () => {
  await subscribe();
  await append();
  expect(await phone.next()).toEqual({
    '@type': 'StateChange',
    changed: { [fixture.accountId]: { Email: expect.any(String) } },
  });
});

test('a URL that the session cannot register is neither resolved nor requested', async () => {
  const checkUrl = vi.spyOn(pusher, 'checkUrl');
  Object.assign(fixture.session, { pushRefusal: () => Promise.resolve('is for people here') });
  const { notCreated } = await call('PushSubscription/set', { create: { k: wanted() } });
  expect(notCreated).toEqual({
    k: { type: 'forbidden', description: '"url" is for people here.', properties: ['url'] },
  });
  expect(checkUrl).not.toHaveBeenCalled();
  expect(phone.postings).toEqual([]);
});

test('before verification a device gets only the code', async () => {
  await call('PushSubscription/set', { create: { k: wanted() } });
  await phone.next();
  await append();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(phone.postings).toEqual([]);
});

test('a push has a signature, a TTL and its content encoding', async () => {
  await call('PushSubscription/set', { create: { k: wanted() } });
  while (phone.postings.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(phone.postings[0]).toMatchObject({ ip: '192.0.2.1', url: new URL('https://push.test/abc') });
  expect(phone.postings[0]?.headers).toMatchObject({
    'content-encoding': 'aes128gcm',
    ttl: '86400',
    authorization: expect.stringMatching(/^vapid t=.+, k=.+$/),
  });
});

test('url and keys are write-only; subscriptions of others are not found', async () => {
  const id = await subscribe();
  const { list } = await call('PushSubscription/get', {});
  expect(list).toEqual([
    expect.objectContaining({ id, deviceClientId: 'phone-1', types: ['Email'], verificationCode: expect.any(String) }),
  ]);
  expect(JSON.stringify(list)).not.toContain('push.test');
  expect(await call('PushSubscription/get', { properties: ['url'] })).toMatchObject({ type: 'forbidden' });
  Object.assign(fixture.session, { credential: 'another' });
  expect(await call('PushSubscription/get', { ids: [id] })).toEqual({ list: [], notFound: [id] });
  const { notDestroyed, notUpdated } = await call('PushSubscription/set', { destroy: [id], update: { p99: {} } });
  expect(notDestroyed).toEqual({ [id]: { type: 'notFound', description: expect.any(String) } });
  expect(notUpdated).toEqual({ p99: { type: 'notFound', description: expect.any(String) } });
});

test.each([
  ['no https', { url: 'http://push.test/' }, 'url'],
  ['a place inside', { url: 'https://inside.test/' }, 'url'],
  ['a code of its own', { verificationCode: 'x' }, 'verificationCode'],
  ['keys that are none', { keys: { p256dh: 'AAAA', auth: 'AAAA' } }, 'keys'],
  ['no device', { deviceClientId: '' }, 'deviceClientId'],
  ['an unknown property', { more: 1 }, 'more'],
  ['types that are no list', { types: 'Email' }, 'types'],
  ['more types than there are', { types: Array(101).fill('Email') }, 'types'],
  ['a long URL', { url: `https://push.test/${'x'.repeat(2000)}` }, 'url'],
  ['keys with junk in them', { keys: { p256dh: '.'.repeat(101), auth: 'AAAA' } }, 'keys'],
])('%s is refused', async (_what, change, property) => {
  const { notCreated } = await call('PushSubscription/set', { create: { k: { ...wanted(), ...change } } });
  expect(notCreated).toEqual({ k: expect.objectContaining({ type: 'invalidProperties', properties: [property] }) });
});

test('a wrong code does not verify, and a subscription expires after a week at most', async () => {
  const { created } = await call('PushSubscription/set', {
    create: { k: { ...wanted(), expires: '2099-01-01T00:00:00Z' } },
  });
  const { id, expires } = (created as { k: { id: string; expires: string } }).k;
  expect(Date.parse(expires) - fixture.box.clock.now).toBe(7 * 24 * 3_600_000);
  const { notUpdated } = await call('PushSubscription/set', { update: { [id]: { verificationCode: 'guess' } } });
  expect(notUpdated).toHaveProperty([id, 'type'], 'invalidProperties');
  fixture.box.clock.now += 7 * 24 * 3_600_000 + 1;
  expect(await call('PushSubscription/get', {})).toEqual({ list: [], notFound: [] });
});

test('expired endpoints and those of revoked credentials are deleted', async () => {
  for (const end of [() => (phone.status = 410), () => (holds = false)]) {
    phone.status = 201;
    holds = true;
    await subscribe();
    end();
    await append();
    await expect.poll(() => call('PushSubscription/get', {})).toEqual({ list: [], notFound: [] });
    phone.postings.length = 0;
  }
});

test('a failed push is retried, merged with later changes', async () => {
  await subscribe();
  phone.status = 503;
  await append();
  await phone.next();
  await append();
  phone.status = 201;
  const push = await phone.next();
  expect(push).toHaveProperty(['changed', fixture.accountId, 'Email']);
});

test('an unverified subscription gets one verification push, even after updates', async () => {
  const { created } = await call('PushSubscription/set', { create: { k: wanted() } });
  const { id } = (created as { k: { id: string } }).k;
  await phone.next();
  for (let i = 0; i < 3; i++) await call('PushSubscription/set', { update: { [id]: { types: null } } });
  await subscribe();
  expect(phone.postings).toEqual([]);
});

test('verification pushes are rate limited per credential', async () => {
  const create = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, wanted()]));
  const { created, notCreated } = await call('PushSubscription/set', { create });
  expect(Object.keys(created as object)).toHaveLength(20);
  expect(notCreated).toHaveProperty(['k49', 'type'], 'rateLimit');
  await call('PushSubscription/set', { destroy: Object.values(created as object).map(({ id }: { id: string }) => id) });
  expect((await call('PushSubscription/set', { create: { k: wanted() } }))['created']).toBeNull();
  fixture.box.clock.now += 60_000;
  expect((await call('PushSubscription/set', { create: { k: wanted() } }))['notCreated']).toBeNull();
});
