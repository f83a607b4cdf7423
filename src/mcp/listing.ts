import { inputSchema, outputSchema, visibleTo } from '../operations/description.ts';
import type { Caller } from '../operations/caller.ts';
import { suffice } from '../operations/needed.ts';
import type { Operation } from '../operations/operation.ts';
import { MOST_RESULT } from '../untrusted/room.ts';
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

function available(one: Operation, caller: Caller, { hideUnavailable }: Trim): boolean {
  return !hideUnavailable || suffice(caller.actions, one);
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
    outputSchema: shallow(outputSchema(operation)),
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
      ...(untrusted === true && { 'dev.mailstead/untrustedOutput': true, 'anthropic/maxResultSizeChars': MOST_RESULT }),
    },
  };
  wire.set(operation, made);
  return made;
}

/** Longer texts have bounds that nobody reaches by chance; the refusal names them. */
const WORTH_TELLING = 200;
/** Longer patterns tell a model nothing that the name and the refusal do not. */
const LONGEST_PATTERN = 20;

/**
 * What models need of a schema: the server checks all of it, and each line costs every conversation. Where a format has a
 * name (`date-time`) the pattern that spells it out is left out, and so are bounds of what is long, patterns that are, and
 * those of keys.
 */
function named(schema: object): unknown {
  const lean = (name: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    if (name === 'properties') return value;
    const { pattern, minLength, maxLength, propertyNames: _keys, ...rest } = value as Record<string, unknown>;
    return {
      ...rest,
      ...(typeof minLength === 'number' && minLength > 1 && { minLength }),
      ...(typeof maxLength === 'number' && maxLength < WORTH_TELLING && { maxLength }),
      ...(typeof pattern === 'string' && rest['format'] === undefined && patternShown(pattern)),
    };
  };
  return JSON.parse(JSON.stringify(schema, lean));
}

/** Numbers of ids have no leading zero and fit in a row id: whoever takes them from an answer need not know. */
function patternShown(whole: string): { pattern?: string } {
  const pattern = whole.replaceAll(/\[1-9\](?:\[0-9\]|\\d)\{0,\d+\}/g, '\\d+');
  return pattern.length <= LONGEST_PATTERN ? { pattern } : {};
}

/** Names and types of the first level: models read these, and every level costs them. */
function shallow(schema: Record<string, unknown>): object {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, { type?: unknown }>);
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(([name, { type }]) => [name, type === undefined ? {} : { type }])),
  };
}
