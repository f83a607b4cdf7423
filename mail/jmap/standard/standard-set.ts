import type { Log } from '../../log.ts';
import { BlobUnreadable, UNREADABLE_REASON } from '../../store/blob/unreadable.ts';
import { StoreBusy } from '../../store/engine/types.ts';
import { access, resolveCreationId } from '../core/access.ts';
import {
  type ArgumentReader,
  idOrCreation,
  list,
  mapOf,
  nullable,
  object,
  plainObject,
  text,
} from '../core/arguments.ts';
import { MethodError, type SetError } from '../core/errors.ts';
import type { Access, JmapMethod, MethodCall } from '../core/method.ts';

/** Result for one object of a /set. */
export type SetOutcome<T> = { kind: 'done'; value: T } | { kind: 'refused'; error: SetError };

export const done = <T>(value: T): SetOutcome<T> => ({ kind: 'done', value });
export const refused = (
  type: string,
  description: string,
  more: Omit<SetError, 'type' | 'description'> = {},
): SetOutcome<never> => ({
  kind: 'refused',
  error: { type, description, ...more },
});

/** Arguments of a /set method. RFC 8620 5.3. */
export interface SetRequest {
  accountId: string;
  access: Access;
  ifInState: string | null;
  create: ReadonlyMap<string, Record<string, unknown>>;
  update: ReadonlyMap<string, Record<string, unknown>>;
  destroy: readonly string[];
}

type More = Readonly<Record<string, ArgumentReader<unknown>>>;
type ReadMore<M extends More> = { [K in keyof M]: ReturnType<M[K]> };

const NONE = new Map<string, Record<string, unknown>>();

/** Reads the arguments of a /set; throws `requestTooLarge` before any change. */
export function readSet<M extends More>(
  call: MethodCall,
  args: Record<string, unknown>,
  more: M,
): SetRequest & ReadMore<M> {
  const shape = {
    accountId: access(call, 'write'),
    ifInState: nullable(text),
    create: nullable(mapOf(plainObject)),
    update: nullable(mapOf(plainObject)),
    destroy: nullable(list(idOrCreation)),
  };
  const read = object({ ...shape, ...more })(args, '') as ReturnType<ReturnType<typeof object<typeof shape>>> &
    ReadMore<M>;
  const { create, update, destroy } = read;
  const count = (create?.size ?? 0) + (update?.size ?? 0) + (destroy?.length ?? 0);
  checkCount(call, count);
  return {
    ...read,
    accountId: args['accountId'] as string,
    access: read.accountId,
    create: create ?? NONE,
    update: update ?? NONE,
    destroy: [...new Set(destroy)],
  };
}

/** Enforces maxObjectsInSet before any change. RFC 8620 2. */
export function checkCount(call: MethodCall, count: number): void {
  const most = call.context.limits.maxObjectsInSet;
  if (count > most) throw new MethodError('requestTooLarge', `A call can change at most ${most} objects.`);
}

/** Creates, updates and destroys objects of one type. Creation ids are resolved already. */
export interface ObjectSetter {
  /** Current state, the same as in /get. */
  state(): Promise<string>;
  /** Returns the properties that the server set, including the id. */
  create(
    creationId: string,
    object: Record<string, unknown>,
  ): Promise<SetOutcome<Record<string, unknown> & { id: string }>>;
  /** Returns properties that changed beyond the patch, or null. */
  update(id: string, patch: Record<string, unknown>): Promise<SetOutcome<Record<string, unknown> | null>>;
  destroy(id: string): Promise<SetOutcome<null>>;
}

type Updated = SetOutcome<Record<string, unknown> | null>;

/** Changes many objects at once; outcomes are in the order of the input. */
interface BulkObjectSetter extends Pick<ObjectSetter, 'state' | 'create'> {
  updateAll(patches: readonly (readonly [id: string, patch: Record<string, unknown>])[]): Promise<Updated[]>;
  destroyAll(ids: readonly string[]): Promise<SetOutcome<null>[]>;
}

/** Defines a /set method without arguments of its own. RFC 8620 5.3. */
export function setMethod(
  name: `${string}/set`,
  capability: string,
  setterOf: (call: MethodCall, access: Access) => ObjectSetter,
): JmapMethod {
  return {
    name,
    capability,
    run(call, args) {
      const set = readSet(call, args, {});
      return runSet(call, set, setterOf(call, set.access));
    },
  };
}

/** Runs a /set: create, then update, then destroy. One object's failure does not affect the others. */
export async function runSet(
  call: MethodCall,
  set: Omit<SetRequest, 'access'>,
  setter: ObjectSetter | BulkObjectSetter,
): Promise<Record<string, unknown>> {
  const bulkSetter = 'updateAll' in setter ? setter : asBulkSetter(setter, call.context.log);
  const oldState = await bulkSetter.state();
  if (set.ifInState !== null && set.ifInState !== oldState) throw stateMismatch();
  const created = await createEach(call, set.create, (one, creationId) => bulkSetter.create(creationId, one));
  const updated = await update(call, set, bulkSetter);
  const destroyed = await destroy(call, set, bulkSetter);
  return {
    accountId: set.accountId,
    oldState,
    newState: await bulkSetter.state(),
    ...created,
    updated: updated.done(),
    notUpdated: updated.refused(),
    destroyed: destroyed.names(),
    notDestroyed: destroyed.refused(),
  };
}

/** Creates objects one after the other; also for /copy and /import. RFC 8620 5.3, 5.4. */
export async function createEach<T>(
  call: MethodCall,
  objects: ReadonlyMap<string, T>,
  create: (object: T, creationId: string) => Promise<SetOutcome<Record<string, unknown> & { id: string }>>,
): Promise<{ created: Record<string, unknown> | null; notCreated: Record<string, SetError> | null }> {
  const split = new Split();
  for (const [creationId, one] of objects) {
    const outcome = await create(one, creationId);
    split.note(creationId, outcome);
    if (outcome.kind === 'done') call.createdIds.set(creationId, outcome.value.id);
  }
  return { created: split.done(), notCreated: split.refused() };
}

async function update(
  call: MethodCall,
  set: Pick<SetRequest, 'update' | 'destroy'>,
  setter: BulkObjectSetter,
): Promise<Split> {
  const split = new Split();
  const patches: [id: string, patch: Record<string, unknown>][] = [];
  for (const [given, patch] of set.update) {
    const id = resolveCreationId(call, given);
    if (id === undefined) split.note(given, unknownId(given));
    // An object that the same call destroys is not updated. RFC 8620 5.3.
    else if (set.destroy.includes(id)) split.note(id, refused('willDestroy', 'The same call destroys this object.'));
    else patches.push([id, patch]);
  }
  const outcomes = await setter.updateAll(patches);
  for (const [i, [id]] of patches.entries()) split.note(id, outcomes[i] ?? unknownId(id));
  return split;
}

async function destroy(call: MethodCall, set: Pick<SetRequest, 'destroy'>, setter: BulkObjectSetter): Promise<Split> {
  const split = new Split();
  const ids: string[] = [];
  for (const given of set.destroy) {
    const id = resolveCreationId(call, given);
    if (id === undefined) split.note(given, unknownId(given));
    else ids.push(id);
  }
  const outcomes = await setter.destroyAll(ids);
  for (const [i, id] of ids.entries()) split.note(id, outcomes[i] ?? unknownId(id));
  return split;
}

/** An error fails one object only: earlier objects are committed and must be reported. */
function asBulkSetter(setter: ObjectSetter, log: Log): BulkObjectSetter {
  return {
    state: () => setter.state(),
    create: (creationId, object) => catchRefusal(log, () => setter.create(creationId, object)),
    updateAll: (patches) => inTurn(patches, ([id, patch]) => catchRefusal(log, () => setter.update(id, patch))),
    destroyAll: (ids) => inTurn(ids, (id) => catchRefusal(log, () => setter.destroy(id))),
  };
}

async function inTurn<I, O>(items: readonly I[], run: (item: I) => Promise<O>): Promise<O[]> {
  const outcomes: O[] = [];
  for (const item of items) outcomes.push(await run(item));
  return outcomes;
}

export function stateMismatch(): MethodError {
  return new MethodError(
    'stateMismatch',
    'The state has changed since. Fetch the changes and retry. Nothing was changed.',
  );
}

const unknownId = (given: string): SetOutcome<never> => refused('notFound', `There is no ${given}.`);

/** Collects outcomes by id into successes and errors; empty collections become null, as in RFC 8620 5.3. */
class Split {
  readonly #done = new Map<string, unknown>();
  readonly #refused = new Map<string, SetError>();

  note(id: string, outcome: SetOutcome<unknown>): void {
    if (outcome.kind === 'done') this.#done.set(id, outcome.value);
    else this.#refused.set(id, outcome.error);
  }

  done(): Record<string, unknown> | null {
    return this.#done.size === 0 ? null : Object.fromEntries(this.#done);
  }

  refused(): Record<string, SetError> | null {
    return this.#refused.size === 0 ? null : Object.fromEntries(this.#refused);
  }

  names(): string[] | null {
    return this.#done.size === 0 ? null : [...this.#done.keys()];
  }
}

/** Thrown to refuse one object of a call; the other objects go on. */
export class SetRefusal extends Error {
  override readonly name = 'SetRefusal';
  readonly error: SetError;

  constructor(type: string, description: string, more: Omit<SetError, 'type' | 'description'> = {}) {
    super(description);
    this.error = { type, description, ...more };
  }
}

/** Runs the change of one object and turns a thrown error into its outcome. */
export async function catchRefusal<T>(log: Log, work: () => Promise<SetOutcome<T>>): Promise<SetOutcome<T>> {
  try {
    return await work();
  } catch (error) {
    return toRefusedOutcome(error, log);
  }
}

/**
 * Converts an error into the SetError of one object. `invalidArguments` becomes `invalidProperties` with the first
 * property of the path (RFC 8620 5.3). A full or busy store, or a fault, fails only this object, since others may be
 * committed already. Only `stateMismatch` fails the whole call.
 */
export function toRefusedOutcome(error: unknown, log: Log): SetOutcome<never> {
  if (error instanceof SetRefusal) return { kind: 'refused', error: error.error };
  if (error instanceof StoreBusy) {
    return refused('serverUnavailable', `This object was not changed: ${error.message}. Try again later.`);
  }
  if (error instanceof BlobUnreadable) return refused('serverFail', UNREADABLE_REASON);
  if (!(error instanceof MethodError)) {
    log.error({ err: error }, 'failed to change an object of a JMAP call');
    return refused('serverFail', 'Internal error, logged on the server. This change may or may not have taken effect.');
  }
  if (error.type === 'stateMismatch') throw error;
  if (error.type !== 'invalidArguments') return refused(error.type, error.message, error.more);
  const { arguments: paths = [] } = error.more as { arguments?: string[] };
  return refused('invalidProperties', error.message, { properties: paths.map(topProperty) });
}

/** The top-level property of a path; a `header:` property may itself contain a slash. */
function topProperty(path: string): string {
  return path.startsWith('header:') ? path.replace(/\/\d+(?:\/.*)?$/, '') : (path.split('/')[0] ?? path);
}
