/**
 * Checks the words of the product and of its tests: how comments begin, metaphors in names and text, in file names,
 * in titles of tests, in SQL and CSS, and names of types, functions and commands that two files export.
 * `node tools/lint-language.ts [--counts] [path ...]`; without a path everything is checked.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ALLOWED, BANNED_NAMES, BANNED_TEXT, OPENERS, VAGUE_TYPES } from './language-rules.ts';
import { splitSource } from './source-text.ts';

const TOPS = ['mail', 'src', 'config', 'bin', 'tools', 'bench', 'test', 'vitest.config.ts'];
const DOCUMENTS = [
  'README.md',
  'docs',
  'bench/README.md',
  'mail/README.md',
  'mail/store/README.md',
  'config/example.env',
  'SECURITY.md',
];
const TYPE = /^export (?:abstract )?(?:interface|type|class) (\w+)/gm;
/** A function, or a constant that is an arrow function on its first line. */
const FUNCTION =
  /^export (?:(?:async )?function\*? ?(\w+)|const (\w+)(?:: [^=\n]+)? = (?:async )?(?:\([^)\n]*\)|\w+)(?:: [^=\n]+)? =>)/gm;
/** A command or a query of the store. */
const COMMAND = /^export const (\w+) = (?:command|query|lookup)\(/gm;
const IDENTIFIER = /[A-Za-z_$][\w$]*/g;
/** The title of a test or of a group, also of one with a table of cases. Other strings of tests are data. */
const TITLE =
  /(?:\b(?:test|describe)(?:\.\w+)*(?:\([^()]*\))?\(|\]\)\(|\bas const\)\()\s*(['"`])((?:\\.|(?!\1)[\s\S])*?)\1/g;
/** Variables of a title. */
const PLACEHOLDER = /\$\{[^}]*\}|\$\w+/g;
/** Banned names that the product has to use: fields of the API, which tests name as well. Filled before tests are read. */
const productNames = new Set<string>();

interface Finding {
  file: string;
  line: number;
  rule: string;
  text: string;
}

const [flags, paths] = [
  process.argv.slice(2).filter((one) => one.startsWith('--')),
  process.argv.slice(2).filter((one) => !one.startsWith('--')),
];
const findings = [...sources(), ...duplicateTypes(), ...duplicateFunctions()].filter(
  ({ file }) =>
    paths.length === 0 || paths.some((path) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`)),
);
if (flags.includes('--counts')) {
  const counts = new Map<string, number>();
  for (const { rule } of findings) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  for (const [rule, count] of counts) console.log(`${count}\t${rule}`);
} else for (const { file, line, rule, text } of findings) console.log(`${file}:${line} ${rule}: ${text}`);
if (findings.length > 0) {
  console.error(`${findings.length} places do not follow docs/glossary.md and CONTRIBUTING.md ("Plain words")`);
  process.exitCode = 1;
}

function* sources(): Generator<Finding> {
  for (const file of filesBelow(TOPS, '')) {
    yield* inFileName(file);
    if (file.endsWith('.ts') && !isData(file)) yield* inSource(file, readFileSync(file, 'utf8'));
    else if (/\.(?:sql|css)$/.test(file)) yield* inStyleOrSchema(file, readFileSync(file, 'utf8'));
  }
  for (const file of filesBelow(DOCUMENTS, '.md')) yield* inDocument(file, readFileSync(file, 'utf8'));
}

function* inFileName(file: string): Generator<Finding> {
  const word = basename(file)
    .split(/[^A-Za-z]+/)
    .flatMap(wordsOf)
    .find((one) => BANNED_NAMES.has(one));
  if (word !== undefined && !isAllowed(file, word)) yield { file, line: 1, rule: 'file-name', text: `"${word}"` };
}

/** Comments and names of a schema or a style sheet, row by row: neither has text in which the words are data. */
function* inStyleOrSchema(file: string, source: string): Generator<Finding> {
  yield* inDocument(file, source);
  yield* inNames(
    file,
    source.replaceAll(/--.*|\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' ')),
  );
}

function* inSource(file: string, source: string): Generator<Finding> {
  const { comments, strings, code } = splitSource(source);
  const product = /^(?:mail|src|config|bin|tools)\//.test(file);
  for (const { text, line } of comments) {
    const opener = OPENERS.exec(text.replace(/^[/*\s]+/, ''));
    if (opener !== null) yield { file, line, rule: 'comment-opener', text: firstLine(text) };
    yield* inText(file, line, text, 'comment-word');
  }
  if (product) for (const { text, line } of strings) if (!isPath(text)) yield* inText(file, line, text, 'text-word');
  yield* inNames(file, code);
  if (file.startsWith('test/')) yield* inTitles(file, source);
}

function* inTitles(file: string, source: string): Generator<Finding> {
  for (const match of source.matchAll(TITLE)) {
    const line = source.slice(0, match.index).split('\n').length;
    yield* inText(file, line, (match[2] ?? '').replaceAll(PLACEHOLDER, ''), 'title-word');
  }
}

function* inText(file: string, line: number, text: string, rule: string): Generator<Finding> {
  for (const match of text.matchAll(BANNED_TEXT)) {
    if (isAllowed(file, match[0])) continue;
    const start = text.lastIndexOf('\n', match.index) + 1;
    const end = text.indexOf('\n', match.index);
    const before = text.slice(0, match.index).split('\n').length - 1;
    yield {
      file,
      line: line + before,
      rule,
      text: `"${match[0]}" in ${text.slice(start, end < 0 ? undefined : end).trim()}`,
    };
  }
}

function* inNames(file: string, code: string): Generator<Finding> {
  const seen = new Set<string>();
  for (const [index, row] of code.split('\n').entries())
    for (const [name] of row.matchAll(IDENTIFIER)) {
      if (seen.has(name)) continue;
      seen.add(name);
      const word = wordsOf(name).find((one) => BANNED_NAMES.has(one));
      if (word === undefined) continue;
      if (isAllowed(file, word)) productNames.add(name);
      else if (!/^(?:test|bench)\//.test(file) || !productNames.has(name))
        yield { file, line: index + 1, rule: 'name', text: `"${word}" in ${name}` };
    }
}

function* inDocument(file: string, text: string): Generator<Finding> {
  for (const [index, row] of text.split('\n').entries()) yield* inText(file, index + 1, row, 'text-word');
}

function* duplicateTypes(): Generator<Finding> {
  const first = new Map<string, string>();
  for (const file of filesBelow(['mail', 'src', 'config'], '.ts')) {
    const source = readFileSync(file, 'utf8');
    for (const match of source.matchAll(TYPE)) {
      const name = match[1] ?? '';
      const line = source.slice(0, match.index).split('\n').length;
      const other = first.get(name);
      if (other !== undefined)
        yield { file, line, rule: 'duplicate-type', text: `${name} is exported by ${other} too` };
      else first.set(name, file);
      if (VAGUE_TYPES.has(name)) yield { file, line, rule: 'vague-type', text: `${name} is no noun that says which` };
    }
  }
}

/** Finds functions, commands and queries of one name in two files; overloads are in one file. */
function* duplicateFunctions(): Generator<Finding> {
  const first = new Map<string, string>();
  for (const file of filesBelow(['mail', 'src', 'config', 'tools'], '.ts')) {
    const source = readFileSync(file, 'utf8');
    for (const match of [...source.matchAll(FUNCTION), ...source.matchAll(COMMAND)]) {
      const name = match[1] ?? match[2] ?? '';
      const other = first.get(name);
      if (other === undefined) first.set(name, file);
      else if (other !== file) {
        const line = source.slice(0, match.index).split('\n').length;
        yield { file, line, rule: 'duplicate-function', text: `${name} is exported by ${other} too` };
      }
    }
  }
}

function filesBelow(tops: readonly string[], ending: string): string[] {
  return tops.flatMap((top) => {
    if (!statSync(top, { throwIfNoEntry: false })?.isDirectory())
      return statSync(top, { throwIfNoEntry: false }) ? [top] : [];
    return readdirSync(top, { recursive: true, encoding: 'utf8' })
      .filter((one) => one.endsWith(ending) && !one.includes('node_modules'))
      .map((one) => join(top, one));
  });
}

/** Words of a camelCase, PascalCase or CONSTANT_CASE name, in lower case. */
function wordsOf(name: string): string[] {
  return name
    .split(/[_$]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

function isAllowed(file: string, word: string): boolean {
  return ALLOWED.some((one) => file.startsWith(one.file) && one.words.includes(word.toLowerCase()));
}

function isData(file: string): boolean {
  return file.startsWith('test/vectors/') || file === 'tools/language-rules.ts';
}

function isPath(text: string): boolean {
  return /^(?:\.{1,2}\/|node:)/.test(text);
}

function firstLine(text: string): string {
  return (text.replace(/^[/*\s]+/, '').split('\n')[0] ?? '').slice(0, 120);
}
