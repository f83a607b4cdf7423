import type { ThreadNode } from './thread-input.ts';

/** The data of a THREAD response: `(2)(3 6 (4 23)(44 7 96))`. `numberOf`: what the client calls a position. RFC 5256 4. */
export function threadText(roots: readonly ThreadNode[], numberOf: (position: number) => number): string {
  const pieces: string[] = [];
  // A stack instead of recursion, since threads may be deep; a string on it is written as it stands.
  const open: (ThreadNode | string)[] = [];
  for (const root of roots) {
    open.push(root);
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (typeof next === 'string') pieces.push(next);
      else writeNode(next, pieces, open, numberOf);
    }
  }
  return pieces.join('');
}

/** Writes a node and its only descendants; several children go on the stack. */
function writeNode(
  from: ThreadNode,
  pieces: string[],
  open: (ThreadNode | string)[],
  numberOf: (position: number) => number,
): void {
  const numbers: number[] = [];
  let node = from;
  for (;;) {
    if (node.position !== undefined) numbers.push(numberOf(node.position));
    const [only] = node.children;
    if (only === undefined || node.children.length > 1) break;
    node = only;
  }
  pieces.push(`(${numbers.join(' ')}`);
  open.push(')');
  if (node.children.length > 1) {
    if (numbers.length > 0) pieces.push(' ');
    for (let i = node.children.length - 1; i >= 0; i--) open.push(node.children[i]!);
  }
}
