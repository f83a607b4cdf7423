import type { z } from 'zod';
import { rowId, publicId } from '../ids.ts';
import type { Caller } from '../operations/caller.ts';
import type { Operation } from '../operations/operation.ts';
import { authorize, perform, type Performed } from '../operations/perform.ts';
import { userCaller } from '../people/caller.ts';
import type { Membership } from '../people/session-commands.ts';
import type { Asked, Visitor } from './door.ts';

/** Somebody who is signed in, in one organization of theirs. */
export interface Visit extends Asked {
  readonly visitor: Visitor;
  readonly membership: Membership;
  readonly caller: Caller;
  readonly operations: ReadonlyMap<string, Operation>;
  /** The organization's first page; those below it begin with it. */
  readonly base: string;
}

/** The visit of an organization that a path names; undefined when the visitor does not belong to it, or it is frozen. */
export async function visitOf(asked: Asked, visitor: Visitor, organization: string): Promise<Visit | undefined> {
  const id = rowId('organization', organization);
  const membership = visitor.memberships.find((one) => one.organization === id && !one.frozen);
  if (membership === undefined) return undefined;
  const [caller, catalogue, { FOR_PEOPLE }] = await Promise.all([
    userCaller(asked.world, visitor.person, membership, asked.request.ip),
    asked.world.catalogue(),
    import('../operations/catalogue.ts'),
  ]);
  const operations = new Map([...catalogue, ...FOR_PEOPLE].map((one) => [one.name, one]));
  return { ...asked, visitor, membership, caller, operations, base: pathOf(membership.organization) };
}

export function pathOf(organization: number): string {
  return `/o/${publicId('organization', organization)}`;
}

/** Whether there is such an operation, for this person. What it may be done to is the operation's to say. */
export function can({ operations, caller }: Pick<Visit, 'operations' | 'caller'>, name: string): boolean {
  const found = operations.get(name);
  if (found === undefined || found.socketOnly === true) return false;
  try {
    authorize(found, caller);
    return true;
  } catch {
    return false;
  }
}

/** Does an operation; what a browser sends is checked by it as what everybody sends. */
export async function ask(visit: Visit, name: string, input: Readonly<Record<string, unknown>>): Promise<Performed> {
  const found = visit.operations.get(name);
  if (found === undefined || found.socketOnly === true) {
    const refusal = { error: 'not_found', message: 'This cannot be done here.', requestId: '' } as const;
    return { kind: 'refused', refusal };
  }
  return perform(visit.world, found, visit.caller, input);
}

/** What an operation answers. */
export type Answer<O extends { output: z.ZodType }> = z.output<O['output']>;

/** What an operation answers that only reads, or undefined when it is not there, not for this person, or refuses. */
export async function read<O extends { input: z.ZodType; output: z.ZodType }>(
  visit: Visit,
  name: string,
  input: z.input<O['input']>,
): Promise<Answer<O> | undefined> {
  if (!can(visit, name)) return undefined;
  const done = await ask(visit, name, input as Readonly<Record<string, unknown>>);
  return done.kind === 'done' ? (done.result as Answer<O>) : undefined;
}
