import type { Log } from '../log.ts';
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
export async function refusable<T>(log: Log, work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await work();
  } catch (error) {
    return refusal(error, log);
  }
}

/** A setter of which one object can fail alone, whatever it met: those before it are done and must be told. */
export function refusing(setter: Setter, log: Log): Setter {
  return {
    state: () => setter.state(),
    create: (creationId, object) => refusable(log, () => setter.create(creationId, object)),
    update: (id, patch) => refusable(log, () => setter.update(id, patch)),
    destroy: (id) => refusable(log, () => setter.destroy(id)),
  };
}

/**
 * What is wrong with one object as its SetError: a reader's `invalidArguments` is `invalidProperties` there, with the
 * property that the path begins with (RFC 8620 5.3). A store that is full or busy, or a fault, refuses this one object,
 * since others of the same call may be done already. Only another state ends the call: then nothing is done.
 */
export function refusal(error: unknown, log: Log): Outcome<never> {
  if (error instanceof SetRefusal) return { kind: 'refused', error: error.error };
  if (error instanceof StoreBusy) {
    return refused('serverUnavailable', `Nothing was done with this one: ${error.message}. Try again in a while.`);
  }
  if (!(error instanceof MethodError)) {
    log.error({ err: error }, 'one object of a JMAP call failed');
    return refused(
      'serverFail',
      'Something went wrong with this one and was logged; it may or may not have been done.',
    );
  }
  if (error.type === 'stateMismatch') throw error;
  if (error.type !== 'invalidArguments') return refused(error.type, error.message, error.more);
  const { arguments: paths = [] } = error.more as { arguments?: string[] };
  return refused('invalidProperties', error.message, { properties: paths.map(topProperty) });
}

/** The name of a `header:` property may hold a slash; below it there are only lists. */
function topProperty(path: string): string {
  return path.startsWith('header:') ? path.replace(/\/\d+(?:\/.*)?$/, '') : (path.split('/')[0] ?? path);
}
