import type { ChangesAfter, ObjectChange, ObjectChanges } from '../../store/account/object-change.ts';
import type { SharedAccount } from '../../store/mailbox/shared-account.ts';
import { access } from '../core/access.ts';
import { nullable, object, text, unsigned } from '../core/arguments.ts';
import { MethodError } from '../core/errors.ts';
import { jmapId, type JmapIdKind } from '../core/ids.ts';
import { MAX_IN_CHANGES } from '../core/capabilities.ts';
import type { Access, JmapContext, JmapMethod, MethodCall } from '../core/method.ts';

/**
 * State of a type: the mod-sequence of its last change, in base 36. A truncated /changes response has an intermediate
 * state, `modseq-row-origin`: rows are reported in the order (modseq, row), and the origin is the client's first state.
 * Without the origin, an object created before the cut and changed after it would be reported as updated to a client
 * that never saw it.
 */
export interface ChangeState {
  /** The client knows all changes up to this mod-sequence. */
  modseq: number;
  /** Last reported row of that mod-sequence; Infinity for all rows. */
  row: number;
  /** The client's first state: objects that existed then are known to it. */
  origin: number;
}

export function formatState(modseq: number): string {
  return modseq.toString(36);
}

/** Formats the state after a response truncated at a row. */
export function formatCut({ modseq, row, origin }: ChangeState): string {
  return [modseq, row, origin].map((number) => number.toString(36)).join('-');
}

/** Parses a state; undefined if this server did not issue it. */
export function readState(text: string): ChangeState | undefined {
  if (!/^[0-9a-z]{1,11}(?:-[0-9a-z]{1,11}-[0-9a-z]{1,11})?$/.test(text)) return undefined;
  const [modseq = 0, row = Number.POSITIVE_INFINITY, origin = modseq] = text
    .split('-')
    .map((part) => Number.parseInt(part, 36));
  return { modseq, row, origin };
}

/** Arguments of a /changes method. RFC 8620 5.2. */
export interface ChangesRequest {
  accountId: string;
  access: Access;
  sinceState: string;
  since: ChangeState;
  maxChanges: number;
}

function readArguments(call: MethodCall, args: Record<string, unknown>): Omit<ChangesRequest, 'since'> {
  const read = object({ accountId: access(call), sinceState: text, maxChanges: nullable(unsigned) })(args, '');
  if (read.maxChanges === 0) throw new MethodError('invalidArguments', '"maxChanges" must be greater than 0.');
  return {
    accountId: args['accountId'] as string,
    access: read.accountId,
    sinceState: read.sinceState,
    maxChanges: Math.min(read.maxChanges ?? MAX_IN_CHANGES, MAX_IN_CHANGES),
  };
}

function readSince(state: string): ChangeState {
  const since = readState(state);
  if (since === undefined) throw cannotCalculate('was not issued by this server');
  return since;
}

/** `why` continues "The state ...". */
export function cannotCalculate(why: string): MethodError {
  return new MethodError('cannotCalculateChanges', `The state ${why}. Fetch all objects again.`);
}

export interface ChangesResult {
  newState: string;
  hasMoreChanges: boolean;
  created: readonly string[];
  updated: readonly string[];
  destroyed: readonly string[];
}

/** Finds the changes in the shared part of an account, all at once. */
export type SharedChangesFinder = (
  context: JmapContext,
  shared: SharedAccount,
  request: Pick<ChangesRequest, 'sinceState' | 'maxChanges'>,
) => Promise<ChangesResult>;

/** Defines a /changes method; `find` may add properties of its type. RFC 8620 5.2. */
export function changesMethod(
  name: `${string}/changes`,
  capability: string,
  find: (context: JmapContext, request: ChangesRequest) => Promise<ChangesResult>,
  findShared?: SharedChangesFinder,
): JmapMethod {
  return {
    name,
    capability,
    ...(findShared !== undefined && { canShare: true }),
    async run(call, args) {
      const request = readArguments(call, args);
      const shared = call.shared?.get(request.access.account);
      const changed =
        shared === undefined || findShared === undefined
          ? await find(call.context, { ...request, since: readSince(request.sinceState) })
          : await findShared(call.context, shared, request);
      return { accountId: request.accountId, oldState: request.sinceState, ...changed };
    },
  };
}

export type ChangeKind = 'created' | 'updated' | 'destroyed';

/** Formats a page of changes that ends at the current state, or at the row `cut`. */
export function cutChanges(
  { origin }: ChangeState,
  { state, cut }: { state: number; cut?: Omit<ChangeState, 'origin'> | undefined },
  idsOf: (kind: ChangeKind) => string[],
): ChangesResult {
  return {
    newState: cut === undefined ? formatState(state) : formatCut({ ...cut, origin }),
    hasMoreChanges: cut !== undefined,
    created: idsOf('created'),
    updated: idsOf('updated'),
    destroyed: idsOf('destroyed'),
  };
}

/** The store query for one /changes; reads one row more than fits, to detect further changes. */
export function changesAfter({ access, since, maxChanges }: ChangesRequest): ChangesAfter {
  return { account: access.account, modseq: since.modseq, row: since.row, limit: maxChanges + 1 };
}

/** Sorts the changes of a type with rows and tombstones. RFC 8620 5.2. */
export function objectChanges(
  { since, maxChanges }: ChangesRequest,
  kind: JmapIdKind,
  found: ObjectChanges,
): ChangesResult {
  checkState(since.modseq, found);
  const page = found.changes.slice(0, maxChanges);
  const last = page.at(-1);
  const hasMoreChanges = found.changes.length > maxChanges && last !== undefined;
  const { origin } = since;
  const idsOf = (is: (one: ObjectChange) => boolean): string[] => page.filter(is).map(({ id }) => jmapId(kind, id));
  return {
    newState: hasMoreChanges
      ? formatCut({ modseq: last.modseq, row: last.id, origin })
      : formatState(Math.max(found.state, since.modseq)),
    hasMoreChanges,
    created: idsOf((one) => one.gone === 0 && one.created > origin),
    updated: idsOf((one) => one.gone === 0 && one.created <= origin),
    // Objects created after the origin and reported before the cut are known to the client too.
    destroyed: idsOf((one) => one.gone === 1 && one.created <= Math.max(origin, since.modseq)),
  };
}

/** Rejects states from the future, and those before the floor, whose tombstones are deleted. */
export function checkState(modseq: number, { state, floor }: Pick<ObjectChanges, 'state' | 'floor'>): void {
  if (modseq > state) throw cannotCalculate('was not issued by this server');
  if (modseq < floor) throw cannotCalculate('is too old');
}
