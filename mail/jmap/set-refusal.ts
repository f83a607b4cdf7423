import { StoreBusy } from '../store/engine/types.ts';
import { MethodError, type SetError } from './errors.ts';
import { type Outcome, refused, type Setter } from './standard-set.ts';

/** One object of a call is refused, found out somewhere deep. */
export class SetRefusal extends Error {
  override readonly name = 'SetRefusal';
  readonly error: SetError;

  constructor(type: string, description: string, more: Omit<SetError, 'type' | 'description'> = {}) {
    super(description);
    this.error = { type, description, ...more };
  }
}

/** Runs what makes or changes one object; what is wrong with it becomes its outcome. */
export async function refusable<T>(work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await work();
  } catch (error) {
    return refusal(error);
  }
}

/** A setter of which one object can fail alone, whatever it met: those before it are done and must be told. */
export function refusing(setter: Setter): Setter {
  return {
    state: () => setter.state(),
    create: (creationId, object) => refusable(() => setter.create(creationId, object)),
    update: (id, patch) => refusable(() => setter.update(id, patch)),
    destroy: (id) => refusable(() => setter.destroy(id)),
  };
}

/**
 * What is wrong with one object as its SetError: a reader's `invalidArguments` is `invalidProperties` there, with the
 * property that the path begins with (RFC 8620 5.3). A store that is full or busy refuses this one object, since others
 * of the same call may be done already. Everything else is thrown on.
 */
export function refusal(error: unknown): Outcome<never> {
  if (error instanceof SetRefusal) return { kind: 'refused', error: error.error };
  if (error instanceof StoreBusy) {
    return refused('serverUnavailable', `Nothing was done with this one: ${error.message}. Try again in a while.`);
  }
  if (!(error instanceof MethodError) || error.type !== 'invalidArguments') throw error;
  const { arguments: paths = [] } = error.more as { arguments?: string[] };
  return refused('invalidProperties', error.message, { properties: paths.map(topProperty) });
}

/** The name of a `header:` property may hold a slash; below it there are only lists. */
function topProperty(path: string): string {
  return path.startsWith('header:') ? path.replace(/\/\d+(?:\/.*)?$/, '') : (path.split('/')[0] ?? path);
}
