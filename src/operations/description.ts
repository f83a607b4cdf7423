import { z } from 'zod';
import { OPERATOR } from '../../mail/store/account/account.ts';
import type { Caller } from '../core/caller.ts';
import type { Operation } from '../core/operation.ts';

type JsonSchema = Record<string, unknown>;

const inputs = new WeakMap<Operation, JsonSchema>();
const outputs = new WeakMap<Operation, JsonSchema>();

/**
 * Returns the input schema for the wire, cached. Every operation accepts organizationId, which must be the caller's
 * own.
 */
export function inputSchema(operation: Operation): JsonSchema {
  return once(inputs, operation, () => plain(operation.input, 'input'));
}

/** Returns the complete output schema. */
export function outputSchema(operation: Operation): JsonSchema {
  return once(outputs, operation, () => plain(operation.output, 'output'));
}

function plain(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

function once(kept: WeakMap<Operation, JsonSchema>, operation: Operation, make: () => JsonSchema): JsonSchema {
  const known = kept.get(operation);
  if (known !== undefined) return known;
  const made = make();
  kept.set(operation, made);
  return made;
}

/**
 * Returns true if an operation is listed for a caller: operator's tools only for the operator, and for anonymous
 * callers only those that create an organization.
 */
export function visibleTo(operation: Operation, caller: Caller): boolean {
  if (operation.socketOnly === true || operation.peopleOnly === true) return false;
  if (caller.organization === undefined) return operation.action === 'anonymous';
  return operation.operatorOnly !== true || caller.organization === OPERATOR;
}

/** Describes an operation for REST. */
export function describe(operation: Operation): JsonSchema {
  const { name, title, toolset, action, description, hints, rest } = operation;
  return {
    name,
    title,
    toolset,
    action,
    description,
    hints,
    ...(rest !== undefined && { rest: { method: rest.method, path: rest.path } }),
    inputSchema: inputSchema(operation),
    outputSchema: outputSchema(operation),
  };
}
