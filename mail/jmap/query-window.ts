import { bool, id, integer, nullable, optional, unsigned } from './arguments.ts';
import { MethodError } from './errors.ts';
import { MOST_IN_QUERY } from './limits.ts';

/** Which part of a result a /query is to answer. RFC 8620 5.5. */
export const WINDOW = {
  position: optional(integer, 0),
  anchor: nullable(id),
  anchorOffset: optional(integer, 0),
  limit: nullable(unsigned),
  calculateTotal: optional(bool, false),
};

type Window = { [K in keyof typeof WINDOW]: ReturnType<(typeof WINDOW)[K]> };

/** The part of all ids in their order that was asked for, as the answer says it. */
export function answerWindow(asked: Window, all: readonly string[]): Record<string, unknown> {
  const limit = Math.min(asked.limit ?? MOST_IN_QUERY, MOST_IN_QUERY);
  const position = positionOf(asked, all);
  return {
    position,
    ids: all.slice(position, position + limit),
    ...(asked.calculateTotal && { total: all.length }),
    ...((asked.limit === null ? all.length > limit : limit < asked.limit) && { limit }),
  };
}

function positionOf({ anchor, anchorOffset, position }: Window, all: readonly string[]): number {
  if (anchor === null) return Math.min(all.length, position < 0 ? Math.max(0, all.length + position) : position);
  const at = all.indexOf(anchor);
  if (at === -1) throw new MethodError('anchorNotFound', `The result has no ${anchor}: ask by "position".`);
  return Math.min(all.length, Math.max(0, at + anchorOffset));
}
