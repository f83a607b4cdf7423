import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A statement of the source with its constants filled in. */
export interface SourceStatement {
  file: string;
  text: string;
}

const BEGIN =
  /^\s*(?:SELECT\s|INSERT (?:OR \w+ )?INTO\s|REPLACE INTO\s|UPDATE [\w\s]+?SET\s|DELETE FROM\s|WITH (?:RECURSIVE )?\w+[\s(])/;
const LITERAL = /(?:\bconst (\w+)(?:: \w+)? =\s*)?(`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*')/g;
const COMMENT_LINE = /^\s*(?:\/\/|\*|\/\*\*).*$/gm;

/**
 * Statements of the product: literals that begin as one does. test/unit/repository/sql.test.ts asserts that only
 * constants are filled into them. A constant that others are made of is not one of its own.
 */
export function sourceStatements(root: string): SourceStatement[] {
  const files = globSync(['mail/**/*.ts', 'src/**/*.ts'], { cwd: root }).filter((file) => !file.includes('/client/'));
  return files.toSorted().flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8').replaceAll(COMMENT_LINE, '');
    return [...source.matchAll(LITERAL)]
      .filter(([, name]) => name === undefined || !source.includes(`\${${name}}`))
      .map(([, , literal = '']) => filled(root, file, literal.slice(1, -1).replaceAll(/\\(.)/g, '$1')))
      .filter((text): text is string => text !== undefined && BEGIN.test(text))
      .map((text) => ({ file, text: text.replaceAll(/\s+/g, ' ').trim() }));
  });
}

/** Text with the values of its constants; undefined if one is not a constant. */
function filled(root: string, file: string, text: string): string | undefined {
  const values = [...text.matchAll(/\$\{([^}]*)\}/g)].map(([, name = '']) => constantOf(root, file, name));
  if (values.includes(undefined)) return undefined;
  return text.replaceAll(/\$\{[^}]*\}/g, () => values.shift() ?? '');
}

function constantOf(root: string, file: string, name: string): string | undefined {
  if (!/^\w+$/.test(name)) return undefined;
  const source = readFileSync(join(root, file), 'utf8');
  const declaration = `\\bconst ${name}(?:: \\w+)? =\\s*(?:\`((?:[^\`\\\\]|\\\\.)*)\`|'([^'\\n]*)'|([\\d_]+))`;
  const found = new RegExp(declaration).exec(source);
  if (found !== null) return filled(root, file, found[1] ?? found[2] ?? (found[3] ?? '').replaceAll('_', ''));
  const from = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from '(\\.[^']+)'`).exec(source)?.[1];
  return from === undefined ? undefined : constantOf(root, join(dirname(file), from), name);
}
