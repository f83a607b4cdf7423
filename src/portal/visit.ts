import type { z } from 'zod';
import { rowId, publicId } from '../core/ids.ts';
import type { Caller } from '../core/caller.ts';
import type { Operation } from '../core/operation.ts';
import { authorize, perform, type OperationOutcome } from '../operations/perform.ts';
import { userCaller } from '../people/caller.ts';
import type { Membership } from '../people/session-commands.ts';
import type { PageExchange, Visitor } from './page-exchange.ts';

/** A page request of a signed-in member within one organization. */
export interface Visit extends PageExchange {
  readonly visitor: Visitor;
  readonly membership: Membership;
  readonly caller: Caller;
  readonly operations: ReadonlyMap<string, Operation>;
  /** Path of the organization's first page; prefix of its other pages. */
  readonly base: string;
}

/** Opens the organization in the path; undefined if the visitor is no member or it is frozen. */
export async function visitOf(
  exchange: PageExchange,
  visitor: Visitor,
  organization: string,
): Promise<Visit | undefined> {
  const id = rowId('organization', organization);
  const membership = visitor.memberships.find((one) => one.organization === id && !one.frozen);
  if (membership === undefined) return undefined;
  const [caller, catalogue, { FOR_PEOPLE }] = await Promise.all([
    userCaller(exchange.context, visitor.person, membership, exchange.request.ip),
    exchange.context.catalogue(),
    import('../operations/catalogue.ts'),
  ]);
  const operations = new Map([...catalogue, ...FOR_PEOPLE].map((one) => [one.name, one]));
  return { ...exchange, visitor, membership, caller, operations, base: pathOf(membership.organization) };
}

export function pathOf(organization: number): string {
  return `/o/${publicId('organization', organization)}`;
}

/** True if the visitor may call the operation. The operation itself checks its target. */
export function isAllowed({ operations, caller }: Pick<Visit, 'operations' | 'caller'>, name: string): boolean {
  const found = operations.get(name);
  if (found === undefined || found.socketOnly === true) return false;
  try {
    authorize(found, caller);
    return true;
  } catch {
    return false;
  }
}

/** Calls an operation, which validates the input of a browser like any other. */
export async function runOperation(
  visit: Visit,
  name: string,
  input: Readonly<Record<string, unknown>>,
): Promise<OperationOutcome> {
  const found = visit.operations.get(name);
  if (found === undefined || found.socketOnly === true) {
    const refusal = {
      error: 'not_found',
      message: 'This operation is not available in the portal.',
      requestId: '',
    } as const;
    return { kind: 'refused', refusal };
  }
  return perform(visit.context, found, visit.caller, input);
}

/** Output type of an operation. */
export type OutputOf<O extends { output: z.ZodType }> = z.output<O['output']>;

/** Calls a read-only operation; undefined if it is missing, not allowed or refused. */
export async function readOperation<O extends { input: z.ZodType; output: z.ZodType }>(
  visit: Visit,
  name: string,
  input: z.input<O['input']>,
): Promise<OutputOf<O> | undefined> {
  if (!isAllowed(visit, name)) return undefined;
  const done = await runOperation(visit, name, input as Readonly<Record<string, unknown>>);
  return done.kind === 'done' ? (done.result as OutputOf<O>) : undefined;
}
