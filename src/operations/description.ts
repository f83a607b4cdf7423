import { z } from 'zod';
import { OPERATOR } from '../../mail/store/account.ts';
import type { Caller } from './caller.ts';
import type { Operation } from './operation.ts';

type JsonSchema = Record<string, unknown>;

const inputs = new WeakMap<Operation, JsonSchema>();
const outputs = new WeakMap<Operation, JsonSchema>();

/** The input schema for the wire, made once. Every operation takes organizationId, which must be the caller's own. */
export function inputSchema(operation: Operation): JsonSchema {
  return once(inputs, operation, () => plain(operation.input, 'input'));
}

/** The whole output schema. */
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

/** What is listed for a caller: nothing of the box for strangers, and for nobody only how to begin. */
export function visibleTo(operation: Operation, caller: Caller): boolean {
  if (operation.socketOnly === true || operation.peopleOnly === true) return false;
  if (caller.organization === undefined) return operation.action === 'anonymous';
  return operation.operatorOnly !== true || caller.organization === OPERATOR;
}

/** One operation as REST lists it. */
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
