import { randomBytes } from 'node:crypto';
import {
  addPushSubscription,
  type PushEndpoint,
  type PushSubscription,
  pushSubscription,
  pushSubscriptions,
  removePushSubscription,
  updatePushSubscription,
} from '../../store/notification/push-subscription.ts';
import { resolveCreationId } from '../core/access.ts';
import {
  type ArgumentReader,
  idOrCreation,
  list,
  mapOf,
  nullable,
  object,
  plainObject,
  text,
  utcDate,
  wrong,
} from '../core/arguments.ts';
import { CORE } from '../core/capabilities.ts';
import { MethodError } from '../core/errors.ts';
import { jmapId, jmapRow } from '../core/ids.ts';
import type { JmapMethod, MethodCall } from '../core/method.ts';
import { applyPatch } from '../standard/set-properties.ts';
import { pickProperties } from '../standard/standard-get.ts';
import { done, type ObjectSetter, refused, runSet, type SetOutcome } from '../standard/standard-set.ts';
import { readPushKeys } from './push-encryption.ts';

/** Readable properties; `url` and `keys` are write-only. RFC 8620 7.2.1. */
const READABLE_PROPERTIES = ['id', 'deviceClientId', 'verificationCode', 'expires', 'types'] as const;
const WRITE_ONLY_PROPERTIES = ['url', 'keys'];

/** The PushSubscription object. The code is included only after verification. */
function subscriptionObject({ id, device, code, verified, expiresAt, types }: PushSubscription) {
  return {
    id: jmapId('pushSubscription', id),
    deviceClientId: device,
    verificationCode: verified ? code : null,
    expires: utc(expiresAt),
    types,
  };
}

/** Formats a UTCDate. RFC 8620 1.4. */
function utc(at: number): string {
  return new Date(Math.floor(at / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** PushSubscription/get: has no account and no state; returns only the credential's own. RFC 8620 7.2.1. */
export const pushSubscriptionGet: JmapMethod = {
  name: 'PushSubscription/get',
  capability: CORE,
  async run(call, args) {
    const { ids, properties } = object({ ids: nullable(list(idOrCreation)), properties: nullable(list(text)) })(
      args,
      '',
    );
    checkProperties(properties ?? []);
    const { context, session } = call;
    const rows = await context.store.read(pushSubscriptions, { credential: session.credential, now: context.clock() });
    const requestedProperties = properties === null ? null : new Set(['id', ...properties]);
    const all = new Map(rows.map(subscriptionObject).map((one) => [one.id, pickProperties(one, requestedProperties)]));
    const requestedIds =
      ids === null ? [...all.keys()] : [...new Set(ids.map((one) => resolveCreationId(call, one) ?? one))];
    return {
      list: requestedIds.flatMap((one) => all.get(one) ?? []),
      notFound: requestedIds.filter((one) => !all.has(one)),
    };
  },
};

function checkProperties(properties: readonly string[]): void {
  const secret = properties.find((one) => WRITE_ONLY_PROPERTIES.includes(one));
  if (secret !== undefined) throw new MethodError('forbidden', `"${secret}" is write-only.`);
  const unknown = properties.find((one) => !(READABLE_PROPERTIES as readonly string[]).includes(one));
  if (unknown !== undefined) {
    throw new MethodError('invalidArguments', `Unknown property "${unknown.slice(0, 100)}".`, {
      arguments: ['properties'],
    });
  }
}

/** PushSubscription/set: has no account and no states. RFC 8620 7.2.2. */
export const pushSubscriptionSet: JmapMethod = {
  name: 'PushSubscription/set',
  capability: CORE,
  async run(call, args) {
    const objects = nullable(mapOf(plainObject));
    const { create, update, destroy } = object({
      create: objects,
      update: objects,
      destroy: nullable(list(idOrCreation)),
    })(args, '');
    const most = call.context.limits.maxObjectsInSet;
    if ((create?.size ?? 0) + (update?.size ?? 0) + (destroy?.length ?? 0) > most) {
      throw new MethodError('requestTooLarge', `A call can change at most ${most} objects.`);
    }
    const set = {
      accountId: '',
      ifInState: null,
      create: create ?? new Map<string, Record<string, unknown>>(),
      update: update ?? new Map<string, Record<string, unknown>>(),
      destroy: [...new Set(destroy)],
    };
    const { accountId: _, oldState: __, newState: ___, ...answer } = await runSet(call, set, subscriptionSetter(call));
    return answer;
  },
};

/** Encryption purpose of stored endpoints; bound to (push_subscription, code). */
export const ENDPOINT_PURPOSE = 'push endpoint';

/** Maximum lifetime; clients renew, so that pushes to abandoned devices end. RFC 8620 7.2. */
const MAX_LIFETIME_MS = 7 * 24 * 3_600_000;
const MAX_TEXT_LENGTH = 2_000;
/** Keys have at most 87 characters of base64url. */
const MAX_KEY_LENGTH = 100;
const MAX_TYPES = 100;

const shortText =
  (most: number): ArgumentReader<string> =>
  (value, path) => {
    const given = text(value, path);
    if (given.length > most) throw wrong(path, `must have at most ${most} characters`);
    return given;
  };

const types: ArgumentReader<string[] | null> = (value, path) => {
  const given = nullable(list(shortText(MAX_KEY_LENGTH)))(value, path);
  if (given !== null && given.length > MAX_TYPES) throw wrong(path, `must name at most ${MAX_TYPES} types`);
  return given;
};

const CREATED = object({
  deviceClientId: shortText(MAX_TEXT_LENGTH),
  url: shortText(MAX_TEXT_LENGTH),
  keys: nullable(object({ p256dh: shortText(MAX_KEY_LENGTH), auth: shortText(MAX_KEY_LENGTH) })),
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

/** Creates, updates and destroys subscriptions of the session's credential. */
function subscriptionSetter(call: MethodCall): ObjectSetter {
  return {
    state: () => Promise.resolve(''),
    create: (_creationId, given) => create(call, given),
    update: (id, patch) => update(call, id, patch),
    destroy: (id) => destroy(call, id),
  };
}

async function create(
  { context, session }: MethodCall,
  given: Record<string, unknown>,
): Promise<SetOutcome<{ id: string; expires: string; keys?: null }>> {
  const read = readOrRefuse(() => CREATED(given, ''));
  if ('refusal' in read) return read.refusal;
  const { deviceClientId: device, url, keys, verificationCode, expires, types } = read.value;
  if (verificationCode !== null)
    return invalid('verificationCode', 'must be null. Set it with an update, after the verification push');
  if (device === '') return invalid('deviceClientId', 'is empty');
  if (keys !== null && readPushKeys(keys.p256dh, keys.auth) === undefined) {
    return invalid('keys', 'must be a P-256 point and 16 octets, each in base64url');
  }
  if (!context.push.mayVerify(session.credential)) {
    return refused('rateLimit', 'Too many new subscriptions. Wait a minute.');
  }
  // Checked before the DNS lookup, which alone could leak data to the name servers of a host that an agent chose.
  const barred = await session.pushRefusal?.(url);
  if (barred !== undefined) return refused('forbidden', `"url" ${barred}.`, { properties: ['url'] });
  const problem = url.startsWith('https://') ? await context.push.checkUrl(url) : 'the URL must begin with https://';
  if (problem !== undefined) return invalid('url', `cannot be used: ${problem}`);
  const code = randomBytes(16).toString('base64url');
  const endpoint: PushEndpoint = { url, keys };
  const expiresAt = expiry(expires, context.clock());
  const added = await context.store.write(addPushSubscription, {
    credential: session.credential,
    accounts: [...session.accounts].flatMap(([id, one]) =>
      one.shared === undefined ? [[id, one.account] as const] : [],
    ),
    device,
    endpoint: Uint8Array.from(
      context.push.secrets.seal(ENDPOINT_PURPOSE, 'push_subscription', code, Buffer.from(JSON.stringify(endpoint))),
    ),
    types,
    code,
    expiresAt,
  });
  if (added === 'too-many')
    return refused('overQuota', 'This login has reached 100 subscriptions. Destroy unused ones.');
  context.push.created(added.id);
  return done({ id: jmapId('pushSubscription', added.id), expires: utc(expiresAt) });
}

async function update(
  call: MethodCall,
  id: string,
  patch: Record<string, unknown>,
): Promise<SetOutcome<{ expires: string } | null>> {
  const row = await own(call, id);
  if (row === undefined) return notFound(id);
  const applied = applyPatch(subscriptionObject(row), patch);
  if ('why' in applied) return refused('invalidPatch', applied.why);
  const read = readOrRefuse(() => UPDATED(applied.patched, ''));
  if ('refusal' in read) return read.refusal;
  const { deviceClientId, verificationCode, expires, types } = read.value;
  if (deviceClientId !== row.device) return invalid('deviceClientId', 'cannot be changed');
  if (verificationCode !== null && verificationCode !== row.code)
    return invalid('verificationCode', 'does not match the code of the verification push');
  const { context, session } = call;
  const expiresAt = 'expires' in patch ? expiry(expires, context.clock()) : row.expiresAt;
  const verified = verificationCode !== null;
  const input = { credential: session.credential, id: row.id, types, expiresAt, verified };
  if (!(await context.store.write(updatePushSubscription, input))) return notFound(id);
  context.push.changed(row.id);
  return done('expires' in patch && utc(expiresAt) !== patch['expires'] ? { expires: utc(expiresAt) } : null);
}

async function destroy(call: MethodCall, id: string): Promise<SetOutcome<null>> {
  const row = await own(call, id);
  const { context, session } = call;
  const input = { id: row?.id ?? 0, credential: session.credential };
  if (row === undefined || !(await context.store.write(removePushSubscription, input))) return notFound(id);
  context.push.changed(row.id);
  return done(null);
}

/** Finds a subscription of the session's credential; others do not exist for it. */
async function own({ context, session }: MethodCall, id: string): Promise<PushSubscription | undefined> {
  const row = jmapRow('pushSubscription', 0, id);
  if (row === undefined) return undefined;
  const found = await context.store.read(pushSubscription, { id: row, now: context.clock() });
  return found?.credential === session.credential ? found : undefined;
}

const expiry = (requested: number | null, now: number): number =>
  Math.min(requested ?? Number.POSITIVE_INFINITY, now + MAX_LIFETIME_MS);

const invalid = (property: string, why: string): SetOutcome<never> =>
  refused('invalidProperties', `"${property}" ${why}.`, { properties: [property] });

const notFound = (id: string): SetOutcome<never> => refused('notFound', `No subscription ${id}.`);

/** Converts a reader's MethodError into the SetError of one object. */
function readOrRefuse<T>(read: () => T): { value: T } | { refusal: SetOutcome<never> } {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof MethodError)) throw error;
    const paths = error.more['arguments'] as string[] | undefined;
    const properties = paths?.map((path) => path.split('/')[0] ?? path);
    return { refusal: refused('invalidProperties', error.message, properties && { properties }) };
  }
}
