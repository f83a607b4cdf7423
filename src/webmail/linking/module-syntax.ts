/** A module whose imports and exports are read, as far as modules of web mail and its libraries have them. */
export interface ModuleSyntax {
  /** Names of the modules that it imports, in their order. */
  imports: readonly string[];
  /** Its text as the body of a function, on as many lines. `variableOf` names the exports of an imported module. */
  bodyWith: (variableOf: (name: string) => string) => string;
  /** Exported names. */
  exports: readonly string[];
  /** An object literal with its exports, for the end of the body. */
  exportsWith: (variableOf: (name: string) => string) => string;
}

/** Statements begin a line, or follow another one in files that are minified. */
const BEGIN = '(?<=^|[;}])';
const FROM = String.raw`\s*from\s*["']([^"'\n]+)["'];?`;
const IMPORT = new RegExp(String.raw`${BEGIN}import\s*(\{[^}]*\}|\w+)${FROM}`, 'gm');
const PASSED_ON = new RegExp(String.raw`${BEGIN}export\s*(\{[^}]*\})${FROM}`, 'gm');
const LISTED = new RegExp(String.raw`${BEGIN}export\s*(\{[^}]*\});?`, 'gm');
const DEFAULT_FUNCTION = new RegExp(String.raw`${BEGIN}export default function\s*(?=\()`, 'gm');
/** A default that is a value. One with a name of its own is not linked. */
const DEFAULT = new RegExp(String.raw`${BEGIN}export default\s+(?!(?:async\s+)?(?:function|class)\b)`, 'gm');
const DECLARED = new RegExp(String.raw`${BEGIN}export (?=(?:async function|function|const|class) (\w+))`, 'gm');
/** Statements that are left are of a kind that is not linked: `import * as`, `export let`, `export *`. */
const LEFT = new RegExp(String.raw`${BEGIN}(?:import\s*["'{*\w]|export\s*[{*\w]).{0,60}`, 'm');

/** Reads the imports and exports of a module. Throws for statements that cannot be linked. */
export function readModule(path: string, text: string): ModuleSyntax {
  const imports = [...text.matchAll(IMPORT), ...text.matchAll(PASSED_ON)].map(([, , name = '']) => name);
  const passedOn = [...text.matchAll(PASSED_ON)].flatMap(([, names = '', from = '']) =>
    namesOf(names).map(({ name, as }) => ({ as, from, name })),
  );
  const rest = text.replaceAll(PASSED_ON, '');
  const own = [
    ...[...rest.matchAll(LISTED)].flatMap(([, names = '']) => namesOf(names)),
    ...[...rest.matchAll(DECLARED)].map(([, name = '']) => ({ name, as: name })),
    ...[...rest.matchAll(DEFAULT), ...rest.matchAll(DEFAULT_FUNCTION)].map(() => ({ name: '$default', as: 'default' })),
  ];
  const body = rest
    .replaceAll(LISTED, '')
    .replaceAll(DECLARED, '')
    .replaceAll(DEFAULT_FUNCTION, 'function $default')
    .replaceAll(DEFAULT, 'const $default = ');
  const left = LEFT.exec(body.replaceAll(IMPORT, ''));
  if (left !== null) throw new Error(`${path} has a statement that is not linked: ${left[0]}`);
  return {
    imports,
    bodyWith: (variableOf) =>
      body.replaceAll(IMPORT, (_, names: string, name: string) => `const ${pattern(names)} = ${variableOf(name)};`),
    exports: [...own, ...passedOn].map(({ as }) => as),
    exportsWith: (variableOf) =>
      `{ ${[
        ...own.map(({ as, name }) => (as === name ? name : `${as}: ${name}`)),
        ...passedOn.map(({ as, from, name }) => `${as}: ${variableOf(from)}.${name}`),
      ].join(', ')} }`,
  };
}

/** The names of `{ a, b as c }`. */
function namesOf(clause: string): { name: string; as: string }[] {
  const parts = clause.slice(1, -1).split(',');
  return parts.flatMap((part) => {
    const [name = '', , as = name] = part.trim().split(/\s+/);
    return name === '' ? [] : [{ name, as }];
  });
}

/** The pattern that takes imported names out of an object of exports. */
function pattern(names: string): string {
  if (!names.startsWith('{')) return `{ default: ${names} }`;
  return `{ ${namesOf(names)
    .map(({ name, as }) => (name === as ? name : `${name}: ${as}`))
    .join(', ')} }`;
}
