import { setImmediate as turn } from 'node:timers/promises';
import { lettersOf, plainText } from '../../mail/delivery/agent/secrets/plain.ts';
import type { ShownSearch } from '../../mail/delivery/agent/secrets/shown-form.ts';

/** Characters that are looked at without a turn for others. */
const STRETCH = 64 * 1024;
/** How much of the end of one stretch the next begins with. */
export const OVERLAP = 1024;

/** What of a search stands in the texts of an answer, as they stand. In time that grows with the answer. */
export async function honeytokensIn(answer: unknown, search: ShownSearch): Promise<string[]> {
  const found = new Set<string>();
  for (const text of stretchesOf(textsOf(answer))) {
    const plain = plainText(text);
    for (const kind of search.in(plain, lettersOf(plain))) found.add(kind);
    if (text.length >= STRETCH) await turn();
  }
  return [...found];
}

/** Short texts together, long ones in pieces. */
function* stretchesOf(texts: Iterable<string>): Generator<string> {
  let together = '';
  for (const text of texts) {
    together += `${text}\n`;
    while (together.length > STRETCH) {
      yield together.slice(0, STRETCH);
      together = together.slice(STRETCH - OVERLAP);
    }
  }
  yield together;
}

/** All texts of plain data. */
function* textsOf(answer: unknown): Generator<string> {
  const left: unknown[] = [answer];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one === 'string') yield one;
    else if (typeof one === 'object' && one !== null) left.push(...Object.values(one));
  }
}
