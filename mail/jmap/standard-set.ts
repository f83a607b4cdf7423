import { access } from './access.ts';
import { idOrCreation, list, mapOf, nullable, object, plainObject, type Reader, text } from './arguments.ts';
import { realId } from './created.ts';
import { MethodError, type SetError } from './errors.ts';
import type { Access, Call } from './method.ts';

/** What became of one object of a /set. */
export type Outcome<T> = { kind: 'done'; value: T } | { kind: 'refused'; error: SetError };

export const done = <T>(value: T): Outcome<T> => ({ kind: 'done', value });
export const refused = (
  type: string,
  description: string,
  more: Omit<SetError, 'type' | 'description'> = {},
): Outcome<never> => ({
  kind: 'refused',
  error: { type, description, ...more },
});

/** What every /set is asked. RFC 8620 5.3. */
export interface Set {
  accountId: string;
  access: Access;
  ifInState: string | null;
  create: ReadonlyMap<string, Record<string, unknown>>;
  update: ReadonlyMap<string, Record<string, unknown>>;
  destroy: readonly string[];
}

type More = Readonly<Record<string, Reader<unknown>>>;
type ReadMore<M extends More> = { [K in keyof M]: ReturnType<M[K]> };

const NONE = new Map<string, Record<string, unknown>>();

/** Reads the arguments of a /set; too many objects at once are refused before anything is done. */
export function readSet<M extends More>(call: Call, args: Record<string, unknown>, more: M): Set & ReadMore<M> {
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

/** More objects than one call may change are refused before anything is done. RFC 8620 2. */
export function checkCount(call: Call, count: number): void {
  const most = call.desk.limits.maxObjectsInSet;
  if (count > most) throw new MethodError('requestTooLarge', `At most ${most} objects can be set at once.`);
}

/** How a type is changed. Ids come with creation ids already put in. */
export interface Setter {
  /** The state now, as /get says it. */
  state(): Promise<string>;
  /** Answers the properties that the client does not know, the id among them. */
  create(
    creationId: string,
    object: Record<string, unknown>,
  ): Promise<Outcome<Record<string, unknown> & { id: string }>>;
  /** Answers what changed beyond what was asked, or null. */
  update(id: string, patch: Record<string, unknown>): Promise<Outcome<Record<string, unknown> | null>>;
  destroy(id: string): Promise<Outcome<null>>;
}

type Updated = Outcome<Record<string, unknown> | null>;

/** A type whose objects do not wait for each other: many are changed at once, and answered for in the same order. */
export interface BulkSetter extends Pick<Setter, 'state' | 'create'> {
  updateAll(patches: readonly (readonly [id: string, patch: Record<string, unknown>])[]): Promise<Updated[]>;
  destroyAll(ids: readonly string[]): Promise<Outcome<null>[]>;
}

/** Runs a /set: create, then update, then destroy, each object alone. One that fails fails alone. */
export async function runSet(
  call: Call,
  set: Omit<Set, 'access'>,
  how: Setter | BulkSetter,
): Promise<Record<string, unknown>> {
  const setter = 'updateAll' in how ? how : oneByOne(how);
  const oldState = await setter.state();
  if (set.ifInState !== null && set.ifInState !== oldState) throw stateMismatch();
  const created = await createEach(call, set.create, (one, creationId) => setter.create(creationId, one));
  const updated = await update(call, set, setter);
  const destroyed = await destroy(call, set, setter);
  return {
    accountId: set.accountId,
    oldState,
    newState: await setter.state(),
    ...created,
    updated: updated.done(),
    notUpdated: updated.refused(),
    destroyed: destroyed.names(),
    notDestroyed: destroyed.refused(),
  };
}

/** Makes objects one after the other, as the creations of a /set: for /copy and /import too. RFC 8620 5.3, 5.4. */
export async function createEach<T>(
  call: Call,
  objects: ReadonlyMap<string, T>,
  create: (object: T, creationId: string) => Promise<Outcome<Record<string, unknown> & { id: string }>>,
): Promise<{ created: Record<string, unknown> | null; notCreated: Record<string, SetError> | null }> {
  const split = new Split();
  for (const [creationId, one] of objects) {
    const outcome = await create(one, creationId);
    split.note(creationId, outcome);
    if (outcome.kind === 'done') call.createdIds.set(creationId, outcome.value.id);
  }
  return { created: split.done(), notCreated: split.refused() };
}

async function update(call: Call, set: Pick<Set, 'update' | 'destroy'>, setter: BulkSetter): Promise<Split> {
  const split = new Split();
  const patches: [id: string, patch: Record<string, unknown>][] = [];
  for (const [given, patch] of set.update) {
    const id = realId(call, given);
    if (id === undefined) split.note(given, unknownId(given));
    // What is destroyed in the same call is not updated first. RFC 8620 5.3.
    else if (set.destroy.includes(id)) split.note(id, refused('willDestroy', 'The same call destroys it.'));
    else patches.push([id, patch]);
  }
  const outcomes = await setter.updateAll(patches);
  for (const [i, [id]] of patches.entries()) split.note(id, outcomes[i] ?? unknownId(id));
  return split;
}

async function destroy(call: Call, set: Pick<Set, 'destroy'>, setter: BulkSetter): Promise<Split> {
  const split = new Split();
  const ids: string[] = [];
  for (const given of set.destroy) {
    const id = realId(call, given);
    if (id === undefined) split.note(given, unknownId(given));
    else ids.push(id);
  }
  const outcomes = await setter.destroyAll(ids);
  for (const [i, id] of ids.entries()) split.note(id, outcomes[i] ?? unknownId(id));
  return split;
}

function oneByOne(setter: Setter): BulkSetter {
  return {
    state: () => setter.state(),
    create: (creationId, object) => setter.create(creationId, object),
    updateAll: (patches) => inTurn(patches, ([id, patch]) => setter.update(id, patch)),
    destroyAll: (ids) => inTurn(ids, (id) => setter.destroy(id)),
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
    'The state is another one by now: get the changes first. Nothing was changed.',
  );
}

const unknownId = (given: string): Outcome<never> => refused('notFound', `There is no ${given}.`);

/** Results by id, those that worked apart from those that did not; null where there are none, as the RFC has it. */
class Split {
  readonly #done = new Map<string, unknown>();
  readonly #refused = new Map<string, SetError>();

  note(id: string, outcome: Outcome<unknown>): void {
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
