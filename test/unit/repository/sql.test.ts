import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const sources = ['mail', 'src'].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${top}/${file}`),
);

/** A template that begins as a statement does. */
const STATEMENT = /`\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|REPLACE|CREATE|DROP|ALTER|PRAGMA)\b[^`]*`/g;

interface Filled {
  file: string;
  name: string;
}

/** A template that is executed, whatever it begins with. */
const EXECUTED = /\b(?:tx|rx|connection)\.(?:run|send|all|get|script)(?:<(?:[^<>]|<[^<>]*>)*>)?\(\s*`[^`]*`/g;

/** Text between `${` and `}` in the text of a statement. */
function filledIn(file: string): Filled[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(STATEMENT), ...text.matchAll(EXECUTED)].flatMap(([statement]) =>
    [...statement.matchAll(/\$\{([^}]*)\}/g)].map(([, name = '']) => ({ file, name })),
  );
}

/** An execution whose statement is neither a literal nor a choice of literals. */
const NAMED =
  /\b(?:tx|rx|#rx|connection)\.(?:run|send|all|get|script)(?:<(?:[^<>]|<[^<>]*>)*>)?\(\s*([\w#.]+)(?=[,)([.])/g;

/**
 * `name` is a constant, or a local one that begins as a text or chooses between texts, takes its turn in a list, or is
 * handed in as `sql`: what a caller hands in is written in a place that is looked at.
 */
function isWritten(name: string, text: string): boolean {
  const declared = new RegExp(`\\bconst ${name}(?::[^=]+)? =\\s*(?:['"\`]|[^;]*?\\?\\s*['"\`A-Z])`);
  const looped = new RegExp(`\\bconst (?:\\[[^\\]]*\\b)?${name}\\b[^=;]* of `);
  const given = new RegExp(`\\b${name}: string|\\bfunction ${name}\\(`);
  return /^[A-Z][A-Z_0-9]*$/.test(name) || [declared, looped, given].some((one) => one.test(text));
}

/** A text without anything filled in, of the file that it is imported from. */
function isImported(file: string, name: string, text: string): boolean {
  const from = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from '([^']+)'`).exec(text)?.[1];
  if (from === undefined) return false;
  const other = readFileSync(join(root, dirname(file), from), 'utf8');
  return new RegExp(`^export const ${name} = \`[^\`$]*\`;`, 'm').test(other);
}

describe('the text of a statement', () => {
  // Names of pragmas, which cannot be bound, come from the lines below it.
  const filled = sources.filter((file) => file !== 'mail/store/engine/connection.ts').flatMap(filledIn);

  test('was looked at', () => {
    expect(sources.length).toBeGreaterThan(200);
    expect(filled.map((one) => one.name)).toContain('COLUMNS');
  });

  test('is made of nothing but constants of its own file, or texts that another one exports', () => {
    const wrong = filled.filter(({ file, name }) => {
      const text = readFileSync(join(root, file), 'utf8');
      const constant = /^[A-Z][A-Z_0-9]*$/.test(name);
      return (
        !constant || !(new RegExp(`^(?:export )?const ${name}\\b`, 'm').test(text) || isImported(file, name, text))
      );
    });
    expect(wrong).toEqual([]);
  });

  // The first argument of an execution is written there, or is the name of a text that was written in the same file.
  test('is written where it is executed, or has a name in the same file', () => {
    const wrong = sources.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8').replaceAll(/^\s*\/\/.*\n/gm, '');
      const named = [...text.matchAll(NAMED)].map(([, name = '']) => name);
      return named.filter((name) => !isWritten(name, text)).map((name) => `${file}: ${name}`);
    });
    expect(wrong).toEqual([]);
  });

  test('is never put together with +', () => {
    const glued = sources.filter((file) =>
      /['"`]\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b[^;\n]*['"`]\s*\+/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
    );
    expect(glued).toEqual([]);
  });
});
