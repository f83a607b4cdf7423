import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const sources = ['mail', 'src'].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${top}/${file}`),
);

const QUERY = /(?<![\w.])query(?:<[^()]*?>)?\(\s*'([\w-]+)',/g;
const LOOP = /\b(?:for|while)\s*\(|\.(?:map|flatMap|forEach|filter|some|every|reduce)\(/;

/** Text of the arguments behind the name, up to the closing parenthesis; texts have no unbalanced ones. */
function argumentsAt(text: string, from: number): string {
  let depth = 1;
  let at = from;
  for (; depth > 0 && at < text.length; at++) depth += Number(text[at] === '(') - Number(text[at] === ')');
  return text.slice(from, at);
}

/** True for a body whose only statement is run once: `rx` is its parameter, and `rx.get` or `rx.all` its one use. */
function hasOneStatement(body: string): boolean {
  const uses = [...body.matchAll(/\brx\b(?:\.(?:get|all)\b)?/g)];
  const [, use] = uses;
  return uses.length === 2 && use !== undefined && use[0] !== 'rx' && !LOOP.test(body.slice(0, use.index));
}

test('a query of one statement is a lookup, which opens no transaction', () => {
  const found = sources.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(QUERY)]
      .filter((match) => hasOneStatement(argumentsAt(text, match.index + match[0].length)))
      .map(([, name]) => `${file}: ${name}`);
  });
  expect(found).toEqual([]);
});

test('is found', () => {
  expect(hasOneStatement("(rx, { id }) => rx.get('SELECT 1 FROM a WHERE id = ?', id))")).toBe(true);
  expect(hasOneStatement("async (rx, { ids }) => { for (const id of ids) await rx.get('SELECT 1', id); })")).toBe(
    false,
  );
  expect(hasOneStatement("async (rx) => { await rx.get('SELECT 1'); await rx.all('SELECT 2'); })")).toBe(false);
});
