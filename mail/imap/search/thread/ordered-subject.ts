import { compareKeys } from '../sort/compare-keys.ts';
import type { ThreadFacts, ThreadNode } from './thread-input.ts';

/** THREAD=ORDEREDSUBJECT: messages with one base subject, the first above the others. RFC 5256 3. */
export function threadBySubject(positions: Uint32Array, facts: ThreadFacts): ThreadNode[] {
  const byDate = (a: number, b: number): number => facts.dateAt(a) - facts.dateAt(b) || a - b;
  const groups = new Map<string, number[]>();
  for (const position of positions) {
    const subject = facts.subjectAt(position);
    const group = groups.get(subject);
    if (group === undefined) groups.set(subject, [position]);
    else group.push(position);
  }
  const threads = [...groups].map(([subject, group]) => ({ subject, group: group.sort(byDate) }));
  threads.sort(
    (a, b) =>
      facts.dateAt(a.group[0] ?? 0) - facts.dateAt(b.group[0] ?? 0) ||
      compareKeys(a.subject, b.subject) ||
      (a.group[0] ?? 0) - (b.group[0] ?? 0),
  );
  return threads.map(({ group: [first, ...others] }) => ({
    position: first,
    children: others.map((position) => ({ position, children: [] })),
  }));
}
