import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { type Command, StoreBusy } from '../../mail/store/engine/types.ts';
import { propose, waitsForPerson } from '../agents/propose.ts';
import { withoutSecrets } from '../agents/told-outside.ts';
import { AUDITED, noteAudit, type Audited } from '../audit/commands.ts';
import type { AuditEntry } from '../audit/row.ts';
import { rowId } from '../ids.ts';
import { OPERATOR } from '../../mail/store/account.ts';
import { type Caller, isLimitedToThread } from './caller.ts';
import { doorOf } from '../reading/opened.ts';
import { lenient } from './lenient.ts';
import type { Action } from '../tokens/token.ts';
import { withinMode } from './mode.ts';
import { suffice } from './needed.ts';
import type { Audience, Block, Call, Operation } from './operation.ts';
import { notFound, refuse, Refused, type Refusal } from './refusal.ts';
import { outOfScope } from './scope.ts';
import type { World } from './world.ts';

export type Performed =
  | {
      readonly kind: 'done';
      readonly result: Record<string, unknown>;
      readonly blocks?: readonly Block[];
      /** Nothing was done yet: a person has to accept it. */
      readonly pending?: true;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal & { readonly requestId: string } };

/** What else is so about a call. */
interface Circumstances {
  /** A person said yes to this very call, which the caller only proposed. */
  accepted?: boolean;
  /** Who waits for an operation that streams. */
  audience?: Audience | undefined;
}

/** Checks, runs and records one operation; the only way from a door to an operation. Never rejects. */
export async function perform(
  world: World,
  operation: Operation,
  caller: Caller,
  given: unknown,
  { accepted = false, audience }: Circumstances = {},
): Promise<Performed> {
  const requestId = `req_${randomBytes(9).toString('base64url')}`;
  const began = performance.now();
  const call = new RunningCall(world, operation, caller, requestId, audience);
  let outcome = 'done';
  try {
    authorize(operation, caller, accepted);
    const input = understand(operation, caller, given);
    await withoutSecrets(call.face, operation, input);
    if (!accepted && (await waitsForPerson(call.face, operation, input))) {
      outcome = 'pending';
      return { kind: 'done', result: await propose(call.face, operation.name, given), pending: true };
    }
    const result = operation.output.parse(await operation.run(call.face, input)) as Record<string, unknown>;
    await noteShown(world, caller, operation, result);
    return { kind: 'done', result, ...(call.blocks.length > 0 && { blocks: call.blocks }) };
  } catch (error) {
    const refusal = refusalOf(world, operation, error, requestId);
    outcome = refusal.error;
    if (!operation.hints.readOnly || operation.secret === true) await call.refused(refusal.error);
    return { kind: 'refused', refusal: { ...refusal, requestId } };
  } finally {
    world.metrics.count('operations_total', { operation: operation.name, outcome });
    world.metrics.observe('operation_seconds', (performance.now() - began) / 1000, { operation: operation.name });
    world.log.info(
      {
        operation: operation.name,
        outcome,
        request: requestId,
        actor: caller.actor,
        organization: caller.organization,
        way: caller.way,
        ip: caller.ip,
        ms: Math.round(performance.now() - began),
      },
      'operation',
    );
  }
}

/** What a token is about to be shown may be what only a canary holds, wherever a person put that. */
async function noteShown({ agents }: World, caller: Caller, { name }: Operation, result: unknown): Promise<void> {
  const { token, organization: tenant, actor, way } = caller;
  if (token === undefined || tenant === undefined) return;
  await agents.canaries.shown(actor, result, { tenant, door: doorOf(way, name) });
}

/** May this caller do this at all? What it may do it *to* is the operation's to check (scope.ts). */
export function authorize(operation: Operation, caller: Caller, accepted = false): void {
  const { action } = operation;
  withinMode(operation, caller);
  if (operation.socketOnly === true && caller.kind !== 'operator') {
    refuse('out_of_scope', `${operation.name} is for whoever may open the socket in the data directory.`);
  }
  if (operation.peopleOnly === true && caller.kind === 'token' && !accepted) {
    refuse('action_not_allowed', `${operation.name} is for people: they do it in the portal. No token may.`, {
      requiredAction: 'person',
      grantedActions: [...caller.actions],
    });
  }
  if (action === 'anonymous') return withinToken(caller);
  if (caller.organization === undefined) {
    refuse('unauthorized', 'This needs a token: send it as "Authorization: Bearer <token>".');
  }
  if (operation.operatorOnly === true && caller.organization !== OPERATOR) {
    refuse('out_of_scope', `${operation.name} is for the organization that runs this box.`);
  }
  if (action !== 'identity' && !suffice(caller.actions, operation)) lacks(caller, action);
  if (!reaches(operation, caller)) outOfScope(caller);
}

/** What anybody may who has no token is no way round what a token was made not to do. */
function withinToken(caller: Caller): void {
  const { kind, project, service, mailboxes, token } = caller;
  if (kind !== 'token') return;
  if (!caller.actions.has('manage')) lacks(caller, 'manage');
  const narrowed = token !== undefined && token.narrow !== null;
  if (narrowed || project !== null || service !== null || mailboxes !== null) outOfScope(caller);
}

function lacks(caller: Caller, action: Action): never {
  refuse('action_not_allowed', `This token may not ${action}: use one with the action "${action}".`, {
    requiredAction: action,
    grantedActions: [...caller.actions],
  });
}

function reaches({ reach, action }: Operation, caller: Caller): boolean {
  const { project, service, mailboxes } = caller;
  // Whatever has not thought of conversations is shut to who is limited to one.
  if (isLimitedToThread(caller) && reach !== 'thread') return action === 'identity';
  if (reach === 'any') return true;
  if (service !== null && reach !== 'service') return false;
  if (mailboxes !== null && reach !== 'mailbox' && reach !== 'thread') return false;
  return project === null || reach !== 'organization';
}

function understand(operation: Operation, caller: Caller, given: unknown): z.output<z.ZodObject> {
  const { organizationId, ...rest } = lenient(operation.input, given);
  // Every operation takes it; a foreign one and one that was never given out get the same answer.
  if (organizationId !== undefined && caller.organization !== undefined) {
    const id = typeof organizationId === 'string' ? rowId('organization', organizationId) : undefined;
    if (id === undefined) {
      refuse('invalid_arguments', `${operation.name}: organizationId: an id of this kind looks like org_12.`, {
        issues: [{ path: 'organizationId', message: 'is no id' }],
      });
    }
    if (id !== caller.organization) notFound('organization');
  }
  const wanted = 'organizationId' in operation.input.shape ? { ...rest, organizationId } : rest;
  const read = operation.input.safeParse(wanted);
  if (read.success) return read.data;
  const issues = read.error.issues.slice(0, 10).map((issue) => ({
    path: issue.path.join('.'),
    message: issue.message,
  }));
  const first = issues[0];
  return refuse(
    'invalid_arguments',
    `${operation.name}: ${first?.path === '' || first === undefined ? '' : `${first.path}: `}${first?.message ?? 'the arguments do not fit'}.`,
    { issues },
  );
}

function refusalOf(world: World, operation: Operation, error: unknown, requestId: string): Refusal {
  if (error instanceof Refused) return error.refusal;
  if (error instanceof StoreBusy) {
    return { error: 'unavailable', message: `Not now: ${error.message}. Try again later.`, retryAfterSeconds: 30 };
  }
  world.log.error({ err: error, operation: operation.name, request: requestId }, 'an operation failed');
  return { error: 'internal', message: `Something went wrong here; the log knows it as ${requestId}.` };
}

// One function for all calls: an accessor made anew for each object would give each a hidden class of its own, which holds
// the whole call until the next full collection (100 MB under load).
const NO_TENANT: PropertyDescriptor = { get: () => refuse('unauthorized', 'This needs a token.') };

/** Writes the audit rows of one call: with the change, before a secret, or for a refusal; never two for one thing. */
class RunningCall {
  readonly face: Call;
  readonly blocks: Block[] = [];
  readonly #world: World;
  readonly #operation: Operation;
  readonly #caller: Caller;
  #told = false;

  constructor(world: World, operation: Operation, caller: Caller, requestId: string, audience: Audience | undefined) {
    this.#world = world;
    this.#operation = operation;
    this.#caller = caller;
    this.face = {
      ...world,
      caller,
      audience,
      requestId,
      tenant: caller.organization ?? 0,
      change: async (what, input, target, detail = {}) => {
        const audited: Audited = { command: what.name, input, entry: this.#entry(target, detail) };
        this.#told = true;
        return world.store.write<unknown, never>({ ...what, name: AUDITED } as Command<unknown, never>, audited);
      },
      note: (target, detail = {}) => {
        this.#told = true;
        return world.store.write(noteAudit, { entry: this.#entry(target, detail), outcome: 'done' });
      },
      show: (block) => this.blocks.push(block),
    };
    if (caller.organization === undefined) Object.defineProperty(this.face, 'tenant', NO_TENANT);
  }

  async refused(code: string): Promise<void> {
    if (this.#told || this.#caller.organization === undefined) return;
    try {
      await this.#world.store.write(noteAudit, { entry: this.#entry('', {}), outcome: code });
    } catch (error) {
      this.#world.log.warn({ err: error, operation: this.#operation.name }, 'a refusal could not be recorded');
    }
  }

  #entry(target: string, detail: AuditEntry['detail']): AuditEntry {
    const { actor, actorName, way, ip, organization = 0 } = this.#caller;
    return { organization, actor, actorName, way, ip, operation: this.#operation.name, target, detail };
  }
}
