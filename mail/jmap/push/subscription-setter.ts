import { randomBytes } from 'node:crypto';
import {
  addPushSubscription,
  pushSubscription,
  type PushEndpoint,
  type PushSubscription,
  removePushSubscription,
  updatePushSubscription,
} from '../../store/push-subscription.ts';
import { list, nullable, object, type Reader, text, utcDate, wrong } from '../arguments.ts';
import { MethodError } from '../errors.ts';
import { jmapId, jmapRow } from '../ids.ts';
import type { Call } from '../method.ts';
import { applyPatch } from '../patch.ts';
import { done, type Outcome, refused, type Setter } from '../standard-set.ts';
import { readPushKeys } from './encrypt.ts';
import { shownSubscription, utc } from './subscription-shown.ts';

/** The purpose under which endpoints are sealed; the row is (push_subscription, code). */
export const ENDPOINT_PURPOSE = 'push endpoint';

/** RFC 8620 7.2: a client renews; one that is gone is not told for ever. */
const LONGEST_MS = 7 * 24 * 3_600_000;
const LONGEST_TEXT = 2_000;
/** A key is 87 letters of base64url. */
const LONGEST_KEY = 100;
const MOST_TYPES = 100;

const short =
  (most: number): Reader<string> =>
  (value, path) => {
    const given = text(value, path);
    if (given.length > most) throw wrong(path, `must have at most ${most} letters`);
    return given;
  };

const types: Reader<string[] | null> = (value, path) => {
  const given = nullable(list(short(LONGEST_KEY)))(value, path);
  if (given !== null && given.length > MOST_TYPES) throw wrong(path, `must name at most ${MOST_TYPES} types`);
  return given;
};

const CREATED = object({
  deviceClientId: short(LONGEST_TEXT),
  url: short(LONGEST_TEXT),
  keys: nullable(object({ p256dh: short(LONGEST_KEY), auth: short(LONGEST_KEY) })),
  verificationCode: nullable(text),
  expires: nullable(utcDate),
  types,
});

const UPDATED = object({
  id: text,
  deviceClientId: text,
  verificationCode: nullable(text),
  expires: nullable(utcDate),
  types,
});

/** How subscriptions of this session's credential are made, changed and removed. */
export function subscriptionSetter(call: Call): Setter {
  return {
    state: () => Promise.resolve(''),
    create: (_creationId, given) => create(call, given),
    update: (id, patch) => update(call, id, patch),
    destroy: (id) => destroy(call, id),
  };
}

async function create(
  { desk, session }: Call,
  given: Record<string, unknown>,
): Promise<Outcome<{ id: string; expires: string; keys?: null }>> {
  const read = readOr(() => CREATED(given, ''));
  if ('refusal' in read) return read.refusal;
  const { deviceClientId: device, url, keys, verificationCode, expires, types } = read.value;
  if (verificationCode !== null)
    return invalid('verificationCode', 'comes with the first push and is set by an update');
  if (device === '') return invalid('deviceClientId', 'is empty');
  if (keys !== null && readPushKeys(keys.p256dh, keys.auth) === undefined) {
    return invalid('keys', 'are no P-256 point and 16 octets, each in base64url');
  }
  if (!desk.push.mayAsk(session.credential)) {
    return refused('rateLimit', 'Too many subscriptions were made in the last minute: wait for one.');
  }
  // Before its host is looked up: that alone tells its name servers what stands in it.
  const barred = await session.pushBar?.(url);
  if (barred !== undefined) return refused('forbidden', `"url" ${barred}.`, { properties: ['url'] });
  const problem = url.startsWith('https://') ? await desk.push.judge(url) : 'the URL must begin with https://';
  if (problem !== undefined) return invalid('url', `cannot be used: ${problem}`);
  const code = randomBytes(16).toString('base64url');
  const endpoint: PushEndpoint = { url, keys };
  const expiresAt = expiry(expires, desk.clock());
  const added = await desk.store.write(addPushSubscription, {
    credential: session.credential,
    accounts: [...session.accounts].map(([id, { account }]) => [id, account] as const),
    device,
    endpoint: Uint8Array.from(
      desk.push.secrets.seal(ENDPOINT_PURPOSE, 'push_subscription', code, Buffer.from(JSON.stringify(endpoint))),
    ),
    types,
    code,
    expiresAt,
  });
  if (added === 'too-many')
    return refused('overQuota', 'There are 100 subscriptions: destroy some that no device uses.');
  desk.push.created(added.id);
  return done({ id: jmapId('pushSubscription', added.id), expires: utc(expiresAt) });
}

async function update(
  call: Call,
  id: string,
  patch: Record<string, unknown>,
): Promise<Outcome<{ expires: string } | null>> {
  const row = await own(call, id);
  if (row === undefined) return missing(id);
  const applied = applyPatch(shownSubscription(row), patch);
  if ('why' in applied) return refused('invalidPatch', applied.why);
  const read = readOr(() => UPDATED(applied.patched, ''));
  if ('refusal' in read) return read.refusal;
  const { deviceClientId, verificationCode, expires, types } = read.value;
  if (deviceClientId !== row.device) return invalid('deviceClientId', 'never changes');
  if (verificationCode !== null && verificationCode !== row.code) return invalid('verificationCode', 'is another one');
  const { desk, session } = call;
  const expiresAt = 'expires' in patch ? expiry(expires, desk.clock()) : row.expiresAt;
  const verified = verificationCode !== null;
  const input = { credential: session.credential, id: row.id, types, expiresAt, verified };
  if (!(await desk.store.write(updatePushSubscription, input))) return missing(id);
  desk.push.changed(row.id);
  return done('expires' in patch && utc(expiresAt) !== patch['expires'] ? { expires: utc(expiresAt) } : null);
}

async function destroy(call: Call, id: string): Promise<Outcome<null>> {
  const row = await own(call, id);
  const { desk, session } = call;
  const input = { id: row?.id ?? 0, credential: session.credential };
  if (row === undefined || !(await desk.store.write(removePushSubscription, input))) return missing(id);
  desk.push.changed(row.id);
  return done(null);
}

/** Other people's do not exist. */
async function own({ desk, session }: Call, id: string): Promise<PushSubscription | undefined> {
  const row = jmapRow('pushSubscription', 0, id);
  if (row === undefined) return undefined;
  const found = await desk.store.read(pushSubscription, { id: row, now: desk.clock() });
  return found?.credential === session.credential ? found : undefined;
}

const expiry = (asked: number | null, now: number): number =>
  Math.min(asked ?? Number.POSITIVE_INFINITY, now + LONGEST_MS);

const invalid = (property: string, why: string): Outcome<never> =>
  refused('invalidProperties', `"${property}" ${why}.`, { properties: [property] });

const missing = (id: string): Outcome<never> => refused('notFound', `There is no subscription ${id}.`);

/** A reader of arguments says of an object in /set what is wrong with it alone. */
function readOr<T>(read: () => T): { value: T } | { refusal: Outcome<never> } {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof MethodError)) throw error;
    const paths = error.more['arguments'] as string[] | undefined;
    const properties = paths?.map((path) => path.split('/')[0] ?? path);
    return { refusal: refused('invalidProperties', error.message, properties && { properties }) };
  }
}
