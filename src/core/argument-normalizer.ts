import type { z } from 'zod';
import { refuse } from './refusal.ts';

/**
 * Normalizes arguments of agents: snake_case for a camelCase name, "5" for a number, a text for a list of one, an empty
 * text for an empty list. Refuses
 * an unknown argument and suggests the nearest name.
 */
export function normalizeArguments(schema: z.ZodObject, given: unknown): Record<string, unknown> {
  if (given === undefined || given === null) return {};
  if (typeof given !== 'object' || Array.isArray(given)) {
    refuse('invalid_arguments', 'The arguments must be an object.', { issues: [] });
  }
  const known = knownNames(schema);
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    const name = known.has(key) ? key : camelCase(key);
    // Only names of the schema become properties: none of them is one of objects, such as __proto__.
    if (!known.has(name)) refuseUnknownKey(key, [...known]);
    if (Object.hasOwn(out, name))
      refuse('invalid_arguments', `${name} is given twice: give it once.`, {
        issues: [{ path: name, message: 'given twice' }],
      });
    out[name] = coerceValue(schema.shape[name] as z.ZodType | undefined, value);
  }
  return out;
}

const namesBySchema = new WeakMap<z.ZodObject, ReadonlySet<string>>();

function knownNames(schema: z.ZodObject): ReadonlySet<string> {
  let names = namesBySchema.get(schema);
  if (names === undefined) {
    names = new Set([...Object.keys(schema.shape), 'organizationId']);
    namesBySchema.set(schema, names);
  }
  return names;
}

function refuseUnknownKey(key: string, known: readonly string[]): never {
  const shown = key.slice(0, 60);
  const near = known.find((name) => distance(name.toLowerCase(), shown.toLowerCase()) <= 3);
  const hint = near === undefined ? `Known arguments: ${known.join(', ')}.` : `Did you mean ${JSON.stringify(near)}?`;
  return refuse('invalid_arguments', `Unknown argument ${JSON.stringify(shown)}. ${hint}`, {
    issues: [{ path: shown, message: `unknown argument. ${hint}` }],
  });
}

function camelCase(key: string): string {
  return key.length > 60 ? key : key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function coerceValue(schema: z.ZodType | undefined, value: unknown): unknown {
  const type = innerType(schema);
  if (type === 'number' && typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  if (type === 'array' && typeof value === 'string') return value === '' ? [] : [value];
  return value;
}

function innerType(schema: z.ZodType | undefined): string | undefined {
  let at = schema as { def?: { type?: string; innerType?: z.ZodType } } | undefined;
  while (at?.def?.innerType !== undefined) at = at.def.innerType as never;
  return at?.def?.type;
}

/** Computes the Levenshtein distance of two short texts. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
