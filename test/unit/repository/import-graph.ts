import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
const IMPORT =
  /^\s*(?:import|export)\s(?:(type)\s)?[^'";]*?from\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

export interface Import {
  from: string;
  to: string;
  /** Erased before the program runs. */
  typeOnly: boolean;
  /** Loaded when it is called for: `import()`. */
  lazy: boolean;
}

export const sources = ['mail', 'src', 'config'].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${top}/${file}`),
);
export const imports = sources.flatMap(importsOf);

function importsOf(from: string): Import[] {
  const text = readFileSync(join(root, from), 'utf8');
  return [...text.matchAll(IMPORT)].map((match) => {
    const target = match[2] ?? match[3] ?? match[4] ?? '';
    const to = target.startsWith('.') ? normalize(join(dirname(from), target)) : target;
    return { from, to, typeOnly: match[1] === 'type', lazy: match[4] !== undefined };
  });
}

/** Formats imports as `from -> to`. */
export const arrows = (found: readonly Import[]): string[] => found.map(({ from, to }) => `${from} -> ${to}`);

/** Servers with SQLite never load the engine on PostgreSQL, nor its library. */
function isOtherEngine({ to, lazy }: Import): boolean {
  return lazy && to.startsWith('mail/store/engine/postgres/');
}

/** Returns every file that is loaded at run time with `start` on SQLite. */
export function reachable(start: string): string[] {
  const seen = new Set<string>();
  const open = [start];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    open.push(
      ...imports.filter((one) => one.from === file && !one.typeOnly && !isOtherEngine(one)).map((one) => one.to),
    );
  }
  return [...seen];
}

/** Returns one cycle of the graph whose nodes are `nodeOf` each file, or undefined when there is none. */
export function cycleIn(edges: readonly Import[], nodeOf = (file: string): string => file): string[] | undefined {
  const graph = new Map<string, Set<string>>();
  for (const edge of edges) {
    const [from, to] = [nodeOf(edge.from), nodeOf(edge.to)];
    if (from !== to) graph.set(from, (graph.get(from) ?? new Set()).add(to));
  }
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    done.add(node);
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...path, node]);
      if (cycle !== undefined) return cycle;
    }
    return undefined;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
