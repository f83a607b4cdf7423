import type { z } from 'zod';
import { BlobUnreadable } from '../../mail/store/blob/unreadable.ts';
import { type Command, StoreBusy } from '../../mail/store/engine/types.ts';
import { propose, needsApproval } from '../agents/propose.ts';
import { refuseSecretsOutside } from '../agents/outside-secrets.ts';
import { passTaint, taintByWords } from '../agents/tainted-words.ts';
import { AUDITED, recordAuditEvent, type AuditedInput } from '../audit/commands.ts';
import type { AuditEntry } from '../core/audit-row.ts';
import { rowId } from '../core/ids.ts';
import { OPERATOR } from '../../mail/store/account/account.ts';
import { type Caller, isLimitedToThread } from '../core/caller.ts';
import { accessPath } from '../reading/read-record.ts';
import { argumentIssues, firstIssue } from '../core/issues.ts';
import { normalizeArguments } from '../core/argument-normalizer.ts';
import type { Action } from '../core/token.ts';
import { checkMode } from '../core/mode.ts';
import { permits } from '../core/required-action.ts';
import type { Block, Call, Operation } from '../core/operation.ts';
import { CONTENT_UNREADABLE, notFound, refuse, RefusedError, type Refusal } from '../core/refusal.ts';
import { outOfScope } from './scope.ts';
import type { AppContext } from '../core/app-context.ts';
import type { StreamClient } from '../core/stream-client.ts';
import { randomOctets } from '../core/random-octets.ts';

export type OperationOutcome =
  | {
      readonly kind: 'done';
      readonly result: Record<string, unknown>;
      readonly blocks?: readonly Block[];
      /** Not executed yet: a person has to accept it. */
      readonly pending?: true;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal & { readonly requestId: string } };

/** Options of a call. */
interface PerformOptions {
  /** A person accepted this call, which the caller had proposed. */
  accepted?: boolean;
  /** The waiting client of an operation that streams. */
  audience?: StreamClient | undefined;
}

/** Checks, runs and records one operation; endpoints run operations only through it. Never rejects. */
export async function perform(
  context: AppContext,
  operation: Operation,
  caller: Caller,
  given: unknown,
  { accepted = false, audience }: PerformOptions = {},
): Promise<OperationOutcome> {
  const requestId = `req_${randomOctets(9).toString('base64url')}`;
  const began = performance.now();
  const call = new RunningCall(context, operation, caller, requestId, audience);
  let outcome = 'done';
  try {
    authorize(operation, caller, accepted);
    const input = parseInput(operation, caller, given);
    await refuseSecretsOutside(call.face, operation, input);
    await passTaint(call.face, operation, input);
    if (!accepted && (await needsApproval(call.face, operation, input))) {
      outcome = 'pending';
      return { kind: 'done', result: await propose(call.face, operation.name, given), pending: true };
    }
    const result = operation.output.parse(await operation.run(call.face, input)) as Record<string, unknown>;
    // Another agent may have written words since. A change has taken effect, so it is not refused any more.
    if (operation.hints.readOnly) await taintByWords(call.face, operation, input);
    await recordShownSecrets(context, caller, operation, result);
    return { kind: 'done', result, ...(call.blocks.length > 0 && { blocks: call.blocks }) };
  } catch (error) {
    const refusal = refusalOf(context, operation, error, requestId);
    outcome = refusal.error;
    if (!operation.hints.readOnly || operation.secret === true) await call.refused(refusal.error);
    return { kind: 'refused', refusal: { ...refusal, requestId } };
  } finally {
    context.metrics.count('operations_total', { operation: operation.name, outcome });
    context.metrics.observe('operation_seconds', (performance.now() - began) / 1000, { operation: operation.name });
    context.log.info(
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

/** Checks a token's result for the secrets of canaries. */
async function recordShownSecrets(
  { agents }: AppContext,
  caller: Caller,
  { name }: Operation,
  result: unknown,
): Promise<void> {
  const { token, organization: tenant, actor, way } = caller;
  if (token === undefined || tenant === undefined) return;
  await agents.canaries.shown(actor, result, { tenant, protocol: accessPath(way, name) });
}

/** Checks whether the caller may run an operation at all. Targets are checked by the operation (scope.ts). */
export function authorize(operation: Operation, caller: Caller, accepted = false): void {
  const { action } = operation;
  checkMode(operation, caller);
  if (operation.socketOnly === true && caller.kind !== 'operator') {
    refuse('out_of_scope', `${operation.name} is only available on the socket in the data directory.`);
  }
  if (operation.peopleOnly === true && caller.kind === 'token' && !accepted) {
    refuse('action_not_allowed', `${operation.name} is only for people, in the portal: no token may call it.`, {
      requiredAction: 'person',
      grantedActions: [...caller.actions],
    });
  }
  if (action === 'anonymous') return checkTokenLimits(caller);
  if (caller.organization === undefined) {
    refuse('unauthorized', 'Missing token: send "Authorization: Bearer <token>".');
  }
  if (operation.operatorOnly === true && caller.organization !== OPERATOR) {
    refuse('out_of_scope', `${operation.name} is only for the organization that operates this server.`);
  }
  if (action !== 'identity' && !permits(caller.actions, operation)) refuseMissingAction(caller, action);
  if (!isWithinReach(operation, caller)) outOfScope(caller);
}

/** Tests if the actions and limits of a caller permit an operation at all, whatever its mode is. */
export function isPermitted(operation: Operation, caller: Caller): boolean {
  try {
    authorize(
      operation,
      caller.token === undefined ? caller : { ...caller, token: { ...caller.token, mode: 'normal' } },
    );
    return true;
  } catch (error) {
    if (error instanceof RefusedError) return false;
    throw error;
  }
}

/** Applies a token's limits to anonymous operations too, so that they do not bypass them. */
function checkTokenLimits(caller: Caller): void {
  const { kind, project, service, mailboxes, token } = caller;
  if (kind !== 'token') return;
  if (!caller.actions.has('manage')) refuseMissingAction(caller, 'manage');
  const narrowed = token !== undefined && token.narrow !== null;
  if (narrowed || project !== null || service !== null || mailboxes !== null) outOfScope(caller);
}

function refuseMissingAction(caller: Caller, action: Action): never {
  refuse('action_not_allowed', `This token lacks the action "${action}": use one that has it.`, {
    requiredAction: action,
    grantedActions: [...caller.actions],
  });
}

function isWithinReach({ reach, action }: Operation, caller: Caller): boolean {
  const { project, service, mailboxes } = caller;
  // Operations that do not check conversations are refused to tokens limited to one.
  if (isLimitedToThread(caller) && reach !== 'thread') return action === 'identity';
  if (reach === 'any') return true;
  if (service !== null && reach !== 'service') return false;
  if (mailboxes !== null && reach !== 'mailbox' && reach !== 'thread') return false;
  return project === null || reach !== 'organization';
}

function parseInput(operation: Operation, caller: Caller, given: unknown): z.output<z.ZodObject> {
  const { organizationId, ...rest } = normalizeArguments(operation.input, given);
  // Every operation accepts organizationId; a foreign id and an unknown one get the same refusal.
  if (organizationId !== undefined && caller.organization !== undefined) {
    const id = typeof organizationId === 'string' ? rowId('organization', organizationId) : undefined;
    if (id === undefined) {
      refuse('invalid_arguments', `${operation.name}: organizationId must look like org_12.`, {
        issues: [{ path: 'organizationId', message: 'is not an organization id' }],
      });
    }
    if (id !== caller.organization) notFound('organization');
  }
  const wanted = 'organizationId' in operation.input.shape ? { ...rest, organizationId } : rest;
  const read = operation.input.safeParse(wanted);
  if (read.success) return read.data;
  const issues = argumentIssues(read.error);
  return refuse('invalid_arguments', `${operation.name}: ${firstIssue(issues)}.`, { issues });
}

function refusalOf(context: AppContext, operation: Operation, error: unknown, requestId: string): Refusal {
  if (error instanceof RefusedError) return error.refusal;
  if (error instanceof StoreBusy) {
    return {
      error: 'unavailable',
      message: `Temporarily unavailable: ${error.message}. Try again later.`,
      retryAfterSeconds: 30,
    };
  }
  if (error instanceof BlobUnreadable) return CONTENT_UNREADABLE;
  context.log.error({ err: error, operation: operation.name, request: requestId }, 'operation failed');
  return { error: 'internal', message: `Internal error, logged as ${requestId}.` };
}

// One function for all calls: an accessor per object would give each object a hidden class of its own, which holds the
// whole call until the next full collection (100 MB under load).
const NO_TENANT: PropertyDescriptor = { get: () => refuse('unauthorized', 'Missing token.') };

/** Readers of content in which organizations take turns. */
function readersOf({ texts, pdfs }: AppContext, { organization }: Caller): Pick<AppContext, 'texts' | 'pdfs'> {
  return organization === undefined
    ? { texts, pdfs }
    : { texts: texts.for(organization), pdfs: pdfs.for(organization) };
}

/** Writes the audit rows of a call: with the change, before a secret is shown, or for a refusal; one per event. */
class RunningCall {
  readonly face: Call;
  readonly blocks: Block[] = [];
  readonly #context: AppContext;
  readonly #operation: Operation;
  readonly #caller: Caller;
  #recorded = false;

  constructor(
    context: AppContext,
    operation: Operation,
    caller: Caller,
    requestId: string,
    audience: StreamClient | undefined,
  ) {
    this.#context = context;
    this.#operation = operation;
    this.#caller = caller;
    this.face = {
      ...context,
      ...readersOf(context, caller),
      caller,
      audience,
      requestId,
      tenant: caller.organization ?? 0,
      change: async (what, input, target, detail = {}) => {
        const audited: AuditedInput = { command: what.name, input, entry: this.#entry(target, detail) };
        this.#recorded = true;
        return context.store.write<unknown, never>({ ...what, name: AUDITED } as Command<unknown, never>, audited);
      },
      note: (target, detail = {}) => {
        this.#recorded = true;
        return context.store.write(recordAuditEvent, { entry: this.#entry(target, detail), outcome: 'done' });
      },
      show: (block) => this.blocks.push(block),
    };
    if (caller.organization === undefined) Object.defineProperty(this.face, 'tenant', NO_TENANT);
  }

  async refused(code: string): Promise<void> {
    if (this.#recorded || this.#caller.organization === undefined) return;
    try {
      await this.#context.store.write(recordAuditEvent, { entry: this.#entry('', {}), outcome: code });
    } catch (error) {
      this.#context.log.warn({ err: error, operation: this.#operation.name }, 'failed to record a refusal');
    }
  }

  #entry(target: string, detail: AuditEntry['detail']): AuditEntry {
    const { actor, actorName, way, ip, organization = 0 } = this.#caller;
    return { organization, actor, actorName, way, ip, operation: this.#operation.name, target, detail };
  }
}
