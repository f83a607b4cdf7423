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
  const threads = [...groups.values()].map((group) => group.sort(byDate));
  // RFC 5256 2.2: of messages with one date the order is that in the mailbox.
  threads.sort(([a = 0], [b = 0]) => byDate(a, b));
  return threads.map(([first, ...others]) => ({
    position: first,
    children: others.map((position) => ({ position, children: [] })),
  }));
}
