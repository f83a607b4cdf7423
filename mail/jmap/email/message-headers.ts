import { LIMITS } from '../../message/limits.ts';
import { type BodyPart, flatParts } from './body-part.ts';
import { HeaderFields } from './header-values.ts';
import type { MessageSource } from './message-source.ts';
import type { ReadBudget } from './read-budget.ts';
import type { Wanted } from './wanted.ts';

/** Octets of the header of a part that are looked at. */
const MOST_PART_HEADER = 16 * 1024;

/** The header of the message with the lines of this recipient's own, as far as {@link LIMITS} lets it be looked at. */
export async function topHeader(source: MessageSource, budget: ReadBudget): Promise<HeaderFields> {
  const length = Math.min(source.headerLength, LIMITS.header);
  budget.take(length + source.trace.length);
  return new HeaderFields(source.trace + (await source.read(0, length)).toString('latin1'), budget);
}

/** The headers of all parts, if they were asked for at all. */
export async function partHeaders(
  source: MessageSource,
  tree: BodyPart,
  wanted: Wanted,
  budget: ReadBudget,
): Promise<ReadonlyMap<BodyPart, HeaderFields>> {
  const found = new Map<BodyPart, HeaderFields>();
  if (wanted.bodyHeaders.length === 0 && !wanted.bodyProperties.has('headers')) return found;
  for (const body of flatParts(tree)) {
    found.set(body, body === tree ? await topHeader(source, budget) : await partHeader(source, body, budget));
  }
  return found;
}

async function partHeader(source: MessageSource, { part }: BodyPart, budget: ReadBudget): Promise<HeaderFields> {
  const length = Math.min(part.bodyOffset - part.headerOffset, MOST_PART_HEADER);
  budget.take(length);
  return new HeaderFields((await source.read(part.headerOffset, length)).toString('latin1'), budget);
}
