import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { messages as german } from '../../../src/webmail/client/languages/de.ts';
import { messages as english } from '../../../src/webmail/client/languages/en.ts';
import { messages as spanish } from '../../../src/webmail/client/languages/es.ts';
import type { MessageCatalog } from '../../../src/webmail/client/message-types.ts';
import { acceptedLanguage } from '../../../src/http/language.ts';
import { translatorFor } from '../../../src/portal/translator.ts';
import { PAGE_TEXTS } from '../../../src/webmail/page-texts.ts';

const CLIENT = new URL('../../../src/webmail/client/', import.meta.url);
const SOURCES = readdirSync(CLIENT, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('languages'))
  .map((name) => ({ name, source: readFileSync(new URL(name, CLIENT), 'utf8') }));

const CATALOGS: [string, MessageCatalog][] = [
  ['de', german],
  ['es', spanish],
];
const formsOf = (message: MessageCatalog[keyof MessageCatalog]): string[] =>
  typeof message === 'string' ? [message] : Object.values(message);
const placeholders = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();

describe('the messages of web mail', () => {
  test.each(CATALOGS)('%s has every message of English and no other', (language, catalog) => {
    expect(catalog.language).toBe(language);
    expect(Object.keys(catalog)).toEqual(Object.keys(english));
  });

  test.each(CATALOGS)(
    '%s has the values of English in each message; a form for one may go without its number',
    (_, catalog) => {
      const withoutCount = (names: readonly string[]): string[] => names.filter((name) => name !== '{count}');
      for (const [key, message] of Object.entries(english)) {
        const wanted = placeholders(typeof message === 'string' ? message : message.other);
        const translated = catalog[key as keyof MessageCatalog];
        const whole = typeof translated === 'string' ? translated : translated.other;
        expect([key, placeholders(whole)]).toEqual([key, wanted]);
        for (const form of formsOf(translated))
          expect([key, withoutCount(placeholders(form))]).toEqual([key, withoutCount(wanted)]);
      }
    },
  );

  test.each(CATALOGS)('%s is translated: sentences differ from English', (_, catalog) => {
    const same = Object.entries(english).filter(
      ([key, message]) =>
        typeof message === 'string' &&
        message.split(' ').length > 2 &&
        catalog[key as keyof MessageCatalog] === message,
    );
    expect(same).toEqual([]);
  });

  test('are all used', () => {
    const all = SOURCES.map(({ source }) => source).join('\n');
    const unused = Object.keys(english).filter((key) => key !== 'language' && !all.includes(`'${key}'`));
    expect(unused).toEqual([]);
  });
});

/** The markup of html`...` templates of a module, without the expressions in them. */
function markupIn(source: string): string[] {
  const found: string[] = [];
  const open: { text: string; depth: number; isMarkup: boolean }[] = [];
  for (let at = 0; at < source.length; at++) {
    const top = open.at(-1);
    const inText = top !== undefined && top.depth === 0;
    const char = source[at] ?? '';
    if (char === '`' && inText) {
      if (top.isMarkup) found.push(top.text);
      open.pop();
    } else if (char === '`') open.push({ text: '', depth: 0, isMarkup: source.slice(at - 4, at) === 'html' });
    else if (inText && source.startsWith('${', at)) {
      top.depth = 1;
      top.text += '$';
      at += 1;
    } else if (inText) top.text += char;
    else if (top !== undefined && char === '{') top.depth += 1;
    else if (top !== undefined && char === '}') top.depth -= 1;
  }
  return found;
}

const WORD = /\p{L}{2,}/u;
/** Proper names, operators of the search field and names of keys. */
const UNTRANSLATED = /^(?:Mailstead|https:\/\/|shop\.example|Re: \.\.\.)$/;

describe('the modules of web mail', () => {
  test('have markup, which is found', () => {
    expect(markupIn('const a = html`<p title="x">${b ? html`<i>in ${`c`}</i>` : d}</p>`;')).toEqual([
      '<i>in $</i>',
      '<p title="x">$</p>',
    ]);
    expect(SOURCES.flatMap(({ source }) => markupIn(source)).length).toBeGreaterThan(80);
  });

  test('have no text of their own in markup', () => {
    const left = SOURCES.flatMap(({ name, source }) =>
      markupIn(source).flatMap((markup) => {
        const texts = markup.split(/<[^>]*>/).map((text) => text.trim());
        const labels = [...markup.matchAll(/\b(?:label|title|alt|placeholder|aria-label)="([^"]*)"/g)].map(
          ([, one = '']) => one,
        );
        return [...texts, ...labels]
          .filter((text) => WORD.test(text) && !UNTRANSLATED.test(text))
          .map((text) => `${name}: ${text}`);
      }),
    );
    expect(left).toEqual([]);
  });

  test('have no sentences in strings, and no sentences made of several messages', () => {
    const left: string[] = [];
    for (const { name, source } of SOURCES) {
      const code = source.replaceAll(/\/\*\*[\s\S]*?\*\/|\/\/ .*$/gm, '').replaceAll(/^import .*$/gm, '');
      for (const [text] of code.matchAll(/(?<=[(:?,=\s])(['`])[A-Z]\p{L}+ [^'`\n]*\1/gu)) left.push(`${name}: ${text}`);
      for (const [text] of code.matchAll(/\bt\([^()]*\)\} ?\$\{t\(|\bt\([^()]*\) \+/g)) left.push(`${name}: ${text}`);
    }
    expect(left).toEqual([]);
  });
});

test.each([
  ['', 'en'],
  ['de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['fr-FR,fr;q=0.9,es;q=0.5,en;q=0.1', 'es'],
  ['en;q=0.1,es-MX;q=0.7', 'es'],
  ['de;q=0,en', 'en'],
  ['de;q=x,es;q=0.1', 'es'],
  ['fr,*;q=0.5', 'en'],
  ['constructor', 'en'],
  [`${'x,'.repeat(5000)}de`, 'en'],
])('a browser that asks for %j gets the language %s', (header, language) => {
  expect(acceptedLanguage(header)).toBe(language);
});

test('the pages of the server have all texts in each language, and waits in words', () => {
  const [first, ...others] = Object.values(PAGE_TEXTS).map((texts) => Object.keys(texts));
  for (const keys of others) expect(keys).toEqual(first);
  expect(translatorFor('de').wait(600)).toBe('10 Minuten');
  expect(translatorFor('es').wait(1)).toBe('1 segundo');
});
