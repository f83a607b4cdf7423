import { type ModuleSyntax, readModule } from './module-syntax.ts';
import { type LineOrigin, sourceMap } from './source-map.ts';

/** Modules that become one script. */
export interface LinkInput {
  /** Path of the module that is run last. */
  entry: string;
  textOf: (path: string) => string;
  /** Path of the module that a module imports by a name. */
  resolve: (name: string, from: string) => string;
  /** Modules that an earlier script has: theirs are used, as each keeps its state once. */
  earlier?: ReadonlySet<string>;
  /** Modules whose exports later scripts use. */
  shared?: ReadonlySet<string>;
}

export interface LinkedScript {
  text: string;
  /** Source map, with paths of the modules as the sources. */
  map: string;
  /** Modules that are in the script. */
  modules: ReadonlySet<string>;
  /** Modules that are used of an earlier script. */
  uses: ReadonlySet<string>;
}

/** Variable of the page that has the exports of shared modules, by path. */
const SHARED = 'linkedModules';

/**
 * Links modules into one script: each is a function that is called once, after those that it imports, and returns its exports.
 * A browser needs some milliseconds for each file, on phones four times as many. The script of a page is a classic one, since
 * the cache of a service worker keeps compiled code of these only; a script that uses an earlier one is a module.
 */
export function linkScript(input: LinkInput): LinkedScript {
  const { entry, earlier = new Set(), shared = new Set() } = input;
  const modules = inOrder(input);
  const variables = new Map([...modules.keys()].map((path, at) => [path, `m${at}`]));
  const uses = new Set<string>();
  const variableOf = (path: string): string => {
    if (earlier.has(path)) uses.add(path);
    return variables.get(path) ?? `${SHARED}[${JSON.stringify(path)}]`;
  };
  const body = [...modules].map(([path, module]) => linkedModule(path, module, input, variableOf));
  const isLater = earlier.size > 0;
  const [head, tail] = isLater ? laterFrame(entry, modules, variableOf) : pageFrame(shared, variableOf);
  const text = [head, ...body.map((one) => one.text), tail].join('\n');
  return { text, map: mapOf([...modules.keys()], body), modules: new Set(modules.keys()), uses };
}

function pageFrame(shared: ReadonlySet<string>, variableOf: (path: string) => string): readonly [string, string] {
  const entries = [...shared].toSorted().map((path) => `${JSON.stringify(path)}: ${variableOf(path)}`);
  return [`const ${SHARED} = (() => { 'use strict';`, `return { ${entries.join(', ')} };\n})();\n`];
}

function laterFrame(
  entry: string,
  modules: ReadonlyMap<string, ModuleSyntax>,
  variableOf: (path: string) => string,
): readonly [string, string] {
  const names = modules.get(entry)?.exports ?? [];
  return ['', `export const { ${names.join(', ')} } = ${variableOf(entry)};\n`];
}

function linkedModule(
  path: string,
  module: ModuleSyntax,
  { resolve }: LinkInput,
  variableOf: (path: string) => string,
): { text: string; lines: number } {
  const imported = (name: string): string => variableOf(resolve(name, path));
  const body = module.bodyWith(imported);
  const text = `const ${variableOf(path)} = (() => {\n${body}\nreturn ${module.exportsWith(imported)};\n})();`;
  return { text, lines: body.split('\n').length };
}

/** The modules that the entry imports, each behind those that it imports itself. Throws for a cycle. */
function inOrder({ entry, textOf, resolve, earlier = new Set() }: LinkInput): Map<string, ModuleSyntax> {
  const found = new Map<string, ModuleSyntax>();
  const visit = (path: string, above: readonly string[]): void => {
    if (found.has(path) || earlier.has(path)) return;
    if (above.includes(path)) throw new Error(`Modules import each other: ${[...above, path].join(', ')}`);
    const module = readModule(path, textOf(path));
    for (const name of module.imports) visit(resolve(name, path), [...above, path]);
    found.set(path, module);
  };
  visit(entry, []);
  return found;
}

/** Each module has one line before its body, and two behind it; the script has one before all. */
function mapOf(paths: readonly string[], body: readonly { lines: number }[]): string {
  const lines = body.flatMap(({ lines: count }, source): LineOrigin[] => [
    undefined,
    ...Array.from({ length: count }, (_, line) => [source, line] as const),
    undefined,
    undefined,
  ]);
  return sourceMap(paths, [undefined, ...lines]);
}
