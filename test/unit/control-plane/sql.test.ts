import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operatorCaller } from '../../../src/operations/caller.ts';
import { perform } from '../../../src/operations/perform.ts';
import { type TextArgument, textArguments } from '../../support/operation-samples.ts';
import { difference, type Rows, rowsOf } from '../../support/rows.ts';
import { INJECTIONS } from '../../support/sql-injections.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
/** What there is after the last test. */
let rows: Rows;
beforeAll(async () => {
  tenants = await twoTenants();
  rows = await rowsOf(tenants.world.store);
});
afterAll(() => tenants[Symbol.asyncDispose]());

/** Rows that one call may replace in a table: those of the thing that it was asked to change. */
const MOST_CHANGED = 2;

describe('texts that would be SQL', () => {
  test('are a hundred', () => {
    expect(new Set(INJECTIONS).size).toBeGreaterThanOrEqual(100);
  });

  test.each(textArguments().map((one): [string, TextArgument] => [`${one.operation.name} ${one.path}`, one]))(
    'change nothing that was not asked for: %s',
    async (_name, { operation, args, own }) => {
      const { a, world } = tenants;
      const caller = operation.operatorOnly === true ? operatorCaller() : a.caller;
      const before = rows;
      // At once, so that they share their commits: each has its row in the audit log.
      const answers = INJECTIONS.map(async (text, i) => {
        const given = i % 2 === 0 ? text : `${own(a.main)}${text}`;
        const said = await perform(world, operation, caller, args(a.main, given));
        expect(said.kind === 'done' ? 'done' : said.refusal.error, given).not.toBe('internal');
      });
      await Promise.all(answers);
      const after = await rowsOf(world.store);
      rows = after;
      // A further revision supersedes the one before it, each time.
      const revisions = [
        `service_revision {"service_id":${a.main.serviceId.slice(4)},`,
        `template_version {"template_id":${a.main.templateId.slice(4)},`,
      ];
      // Labels that were made of these very texts are what is asked to go.
      const asked =
        operation.name === 'delete_label' ? INJECTIONS.map((text) => JSON.stringify(text.toLowerCase())) : [];
      const meant = (row: string): boolean => row.startsWith('label ') && asked.some((text) => row.includes(text));
      const { gone: all } = difference(before, after);
      const gone = all.filter((row) => !revisions.some((one) => row.startsWith(one)) && !meant(row));
      expect(gone.filter((row) => row.includes('bravo'))).toEqual([]);
      const byTable = Map.groupBy(gone, (row) => row.split(' ')[0]);
      expect([...byTable].filter(([, rows]) => rows.length > MOST_CHANGED)).toEqual([]);
      expect([...after.keys()]).toEqual([...before.keys()]);
    },
  );
});

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

/** What stands between `${` and `}` in the text of a statement. */
function filledIn(file: string): Filled[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(STATEMENT)].flatMap(([statement]) =>
    [...statement.matchAll(/\$\{([^}]*)\}/g)].map(([, name = '']) => ({ file, name })),
  );
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

  test('is never put together with +', () => {
    const glued = sources.filter((file) =>
      /['"`]\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b[^;\n]*['"`]\s*\+/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
    );
    expect(glued).toEqual([]);
  });
});
