import { inputSchema, outputSchema, visibleTo } from '../operations/description.ts';
import type { Caller } from '../core/caller.ts';
import { isPermitted } from '../operations/perform.ts';
import type { Operation } from '../core/operation.ts';
import { REFUSAL_FIELDS } from '../core/refusal.ts';
import { MAX_RESULT_CHARS } from '../untrusted/result-budget.ts';
import type { ToolSelection } from './tool-selection.ts';

/** Tools visible to a caller, in catalogue order. Identity tools are always listed. */
export function visibleTools(catalogue: readonly Operation[], caller: Caller, trim: ToolSelection): Operation[] {
  return catalogue.filter((one) => visibleTo(one, caller) && wanted(one, trim) && available(one, caller));
}

function wanted(one: Operation, { toolsets, tools, readOnly }: ToolSelection): boolean {
  if (one.action === 'identity') return true;
  if (readOnly && !one.hints.readOnly) return false;
  const inSet = toolsets?.has(one.toolset) === true || (one.core === true && toolsets?.has('core') === true);
  if (toolsets !== undefined && !inSet) return false;
  return tools === undefined || tools.has(one.name);
}

/** True for OAuth tokens too: hosts ask the person for missing actions when a call is refused. */
function available(one: Operation, caller: Caller): boolean {
  return caller.token?.oauth != null || isPermitted(one, caller);
}

const wire = new WeakMap<Operation, object>();

/** Tool object of tools/list. The output schema is one level deep; /openapi.json has the full one. */
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
      ...(untrusted === true && {
        'dev.mailstead/untrustedOutput': true,
        'anthropic/maxResultSizeChars': MAX_RESULT_CHARS,
      }),
    },
  };
  wire.set(operation, made);
  return made;
}

/** Larger maxLength values are omitted: the refusal names them. */
const MAX_LISTED_LENGTH = 200;
/** Longer patterns are omitted: they do not help a model. */
const MAX_LISTED_PATTERN = 20;

/**
 * Shortens an input schema for models; the server checks the full one. Omits patterns beside a named format (`date-time`),
 * long patterns, large bounds and patterns of keys, because each line costs tokens in every conversation.
 */
function named(schema: object): unknown {
  const lean = (name: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    if (name === 'properties') return value;
    const { pattern, minLength, maxLength, propertyNames: _keys, ...rest } = value as Record<string, unknown>;
    return {
      ...rest,
      ...(typeof minLength === 'number' && minLength > 1 && { minLength }),
      ...(typeof maxLength === 'number' && maxLength < MAX_LISTED_LENGTH && { maxLength }),
      ...(typeof pattern === 'string' && rest['format'] === undefined && patternShown(pattern)),
    };
  };
  return JSON.parse(JSON.stringify(schema, lean));
}

/** Shortens number patterns of ids: models copy ids from answers. */
function patternShown(whole: string): { pattern?: string } {
  const pattern = whole.replaceAll(/\[1-9\](?:\[0-9\]|\\d)\{0,\d+\}/g, '\\d+');
  return pattern.length <= MAX_LISTED_PATTERN ? { pattern } : {};
}

/** Names that a refusal uses too: clients validate it with the same schema. */
const SHARED: ReadonlySet<string> = new Set(['error', 'message', ...REFUSAL_FIELDS]);

/** Property names and types of the first level only; no type where a refusal may have another one. */
function shallow(schema: Record<string, unknown>): object {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, { type?: unknown }>);
  return {
    type: 'object',
    properties: Object.fromEntries(
      properties.map(([name, { type }]) => [name, type === undefined || SHARED.has(name) ? {} : { type }]),
    ),
  };
}
