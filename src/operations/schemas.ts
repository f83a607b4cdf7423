import { z } from 'zod';
import { type IdKind, idPattern } from '../ids.ts';
import { refuse } from './refusal.ts';

/** Public ids, as `mbx_12`. */
export const Id = (kind: IdKind) =>
  z.string().regex(idPattern(kind), `an id of this kind looks like ${idPattern(kind).source.slice(1, 5)}12`);

/** RFC 3339 in UTC. */
export const isoOf = (ms: number): string => new Date(ms).toISOString();
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : isoOf(ms));

/** Text on one line that people read: no control characters, no line separators, no lone surrogates. */
export const Line = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine(isPlainLine, 'must be one line without control characters')
    .transform((text) => text.normalize('NFC'));

export function isPlainLine(text: string): boolean {
  return !/[\x00-\x1f\x7f-\x9f\u2028\u2029]/.test(text) && text.isWellFormed();
}

/** Lists are pages: `cursor` is what the page before gave as `nextCursor`. */
export const Page = {
  cursor: z
    .string()
    .regex(/^(?:[a-z]{3}_)?\d{1,15}$/, 'is not one that a list gave')
    .optional(),
  limit: z.number().int().min(1).max(100).default(25),
};

export const nextCursor = z.string().nullable();

/** The id behind which a page begins. */
export function pageStart({ cursor }: { cursor?: string | undefined }): number {
  const after = cursor === undefined ? 0 : Number(/^[1-9]\d{0,14}$/.exec(cursor)?.[0]);
  if (Number.isNaN(after)) {
    refuse('invalid_arguments', 'The cursor is not one that this list gave as nextCursor.', {
      issues: [{ path: 'cursor', message: 'unknown' }],
    });
  }
  return after;
}

/** Cuts a page out of rows in ascending order of `id`. */
export function pageOf<T extends { id: number }>(
  rows: readonly T[],
  page: { cursor?: string | undefined; limit: number },
): { rows: T[]; nextCursor: string | null } {
  const { limit } = page;
  const after = pageStart(page);
  const rest = rows.filter((row) => row.id > after);
  const shown = rest.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, nextCursor: rest.length > limit && last !== undefined ? String(last.id) : null };
}

/** A secret is shown once. */
export const SECRET_NOTICE = 'This is shown once and cannot be shown again: keep it where only its user can read it.';

export const Organization = z.object({ id: z.string(), slug: z.string(), name: z.string() });
