import { access } from './access.ts';
import { nullable, object, text, unsigned } from './arguments.ts';
import { MethodError } from './errors.ts';
import { MOST_IN_CHANGES } from './limits.ts';
import type { Access, Call } from './method.ts';
import { readState, type State } from './state.ts';

/** What every /changes is asked. RFC 8620 5.2. */
export interface Changes {
  accountId: string;
  access: Access;
  sinceState: string;
  since: State;
  maxChanges: number;
}

export function readChanges(call: Call, args: Record<string, unknown>): Changes {
  const read = object({ accountId: access(call), sinceState: text, maxChanges: nullable(unsigned) })(args, '');
  if (read.maxChanges === 0) throw new MethodError('invalidArguments', '"maxChanges" must be greater than 0.');
  const since = readState(read.sinceState);
  if (since === undefined) throw cannotCalculate('is none of this server');
  return {
    accountId: args['accountId'] as string,
    access: read.accountId,
    sinceState: read.sinceState,
    since,
    maxChanges: Math.min(read.maxChanges ?? MOST_IN_CHANGES, MOST_IN_CHANGES),
  };
}

/** `why` continues "The state ...". */
export function cannotCalculate(why: string): MethodError {
  return new MethodError('cannotCalculateChanges', `The state ${why}: fetch everything again.`);
}

export interface Changed {
  newState: string;
  hasMoreChanges: boolean;
  created: readonly string[];
  updated: readonly string[];
  destroyed: readonly string[];
}

export function answerChanges(asked: Changes, changed: Changed): Record<string, unknown> {
  return { accountId: asked.accountId, oldState: asked.sinceState, ...changed };
}
