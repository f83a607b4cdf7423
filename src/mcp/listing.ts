import { inputSchema, outputSchema, visibleTo } from '../operations/description.ts';
import type { Caller } from '../operations/caller.ts';
import type { Operation } from '../operations/operation.ts';
import type { Trim } from './trim.ts';

/** The tools that a caller is shown, in the catalogue's order. Identity tools are never trimmed. */
export function listed(catalogue: readonly Operation[], caller: Caller, trim: Trim): Operation[] {
  return catalogue.filter((one) => visibleTo(one, caller) && wanted(one, trim) && available(one, caller, trim));
}

function wanted(one: Operation, { toolsets, tools, readOnly }: Trim): boolean {
  if (one.action === 'identity') return true;
  if (readOnly && !one.hints.readOnly) return false;
  const inSet = toolsets?.has(one.toolset) === true || (one.core === true && toolsets?.has('core') === true);
  if (toolsets !== undefined && !inSet) return false;
  return tools === undefined || tools.has(one.name);
}

function available({ action }: Operation, caller: Caller, { hideUnavailable }: Trim): boolean {
  if (!hideUnavailable || action === 'anonymous' || action === 'identity') return true;
  return caller.actions.has(action);
}

const wire = new WeakMap<Operation, object>();

/** The tool object of the wire. The output schema is one level deep; /openapi.json has the whole. */
export function toolOf(operation: Operation): object {
  const known = wire.get(operation);
  if (known !== undefined) return known;
  const { name, title, description, hints, toolset, action, untrusted } = operation;
  const made = {
    name,
    title,
    description,
    inputSchema: named(inputSchema(operation)),
    outputSchema: shallow(outputSchema(operation), operation.rule === undefined),
    annotations: {
      title,
      readOnlyHint: hints.readOnly,
      destructiveHint: hints.destructive,
      idempotentHint: hints.idempotent,
      openWorldHint: hints.openWorld,
    },
    _meta: {
      'dev.mailstead/toolset': toolset,
      'dev.mailstead/action': action,
      ...(untrusted === true && { 'dev.mailstead/untrustedOutput': true, 'anthropic/maxResultSizeChars': 60_000 }),
    },
  };
  wire.set(operation, made);
  return made;
}

/** Where a format has a name (`date-time`) models know it: the pattern that spells it out would only cost them. */
function named(schema: object): unknown {
  const lean = (_name: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { pattern: _spelled, ...rest } = value as Record<string, unknown>;
    return typeof rest['format'] === 'string' ? rest : value;
  };
  return JSON.parse(JSON.stringify(schema, lean));
}

/**
 * Names and types of the first level: models read these, and every level costs them. Where the answer may be that a
 * person has to accept it, nothing is always there.
 */
function shallow(schema: Record<string, unknown>, always: boolean): object {
  const properties = Object.entries(
    (schema['properties'] ?? {}) as Record<string, { type?: unknown; anyOf?: unknown }>,
  );
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(([name, { type }]) => [name, type === undefined ? {} : { type }])),
    ...(always && schema['required'] !== undefined && { required: schema['required'] }),
  };
}
