import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { stripTypes } from '../http/strip-types.ts';
import type { MailLanguage } from './language.ts';

/** A file that browsers load, in memory. */
export interface WebAsset {
  type: string;
  octets: Buffer;
  /** The same, compressed by gzip. */
  gzipped: Buffer;
}

/** Everything that web mail loads, by path below {@link AssetSet.base}. */
export interface AssetSet {
  /** Path prefix with a hash of the contents, so that browsers may cache without expiry. */
  readonly base: string;
  readonly files: ReadonlyMap<string, WebAsset>;
  /** Paths of the modules that a page of the language can load, in an order without meaning. */
  readonly modulesOf: (language: MailLanguage) => readonly string[];
  /** Paths of the modules that the start of a page needs, its libraries too. */
  readonly firstModulesOf: (language: MailLanguage) => readonly string[];
  /** Import map for the names of libraries and for the messages of the language, as JSON. */
  readonly importMapOf: (language: MailLanguage) => string;
}

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** Modules of libraries, as the browser loads them: their import name and the file in the package. */
const LIBRARIES: readonly (readonly [name: string, file: string])[] = [
  ['preact', 'preact/dist/preact.mjs'],
  ['preact/hooks', 'preact/hooks/dist/hooks.mjs'],
  ['@preact/signals-core', '@preact/signals-core/dist/signals-core.mjs'],
  ['@preact/signals', '@preact/signals/dist/signals.mjs'],
  ['htm', 'htm/dist/htm.mjs'],
  ['dompurify', 'dompurify/dist/purify.es.mjs'],
  ['ical.js', 'ical.js/dist/ical.min.js'],
];

/** Files that are loaded when they are needed: what reads calendars. */
const LATER = /^(?:calendar\/|lib\/ical\.js)/;

const CLIENT = new URL('./client/', import.meta.url);

/** Folder of the messages, a file for each language. */
const CATALOGS = 'languages/';
const catalogOf = (language: MailLanguage): string => `${CATALOGS}${language}.ts`;

let loaded: AssetSet | undefined;

/** Loads all files once, at the first visit of web mail: the start of the box does not wait for them. */
export function webAssets(): AssetSet {
  loaded ??= loadAssets();
  return loaded;
}

function loadAssets(): AssetSet {
  const libraries = LIBRARIES.map(([name, file]) => ({ name, path: `lib/${name.replaceAll(/[@/]+/g, '-')}.js`, file }));
  const own = readdirSync(CLIENT, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:ts|css)$/.test(name));
  const files = new Map<string, WebAsset>();
  for (const name of own.toSorted()) files.set(name, name.endsWith('.css') ? styleAsset(name) : moduleAsset(name));
  for (const { path, file } of libraries) files.set(path, assetOf(SCRIPT, libraryText(file)));
  const hash = createHash('sha256');
  for (const { octets } of files.values()) hash.update(octets);
  const base = `/mail/assets/${hash.digest('hex').slice(0, 16)}/`;
  const modules = own.filter((name) => name.endsWith('.ts') && !name.startsWith(CATALOGS));
  const imports = Object.fromEntries(libraries.map(({ name, path }) => [name, `${base}${path}`]));
  const modulesOf = (language: MailLanguage): string[] => [...modules, catalogOf(language)];
  return {
    base,
    files,
    modulesOf,
    firstModulesOf: (language) =>
      [...modulesOf(language), ...libraries.map(({ path }) => path)].filter((path) => !LATER.test(path)),
    importMapOf: (language) =>
      JSON.stringify({ imports: { ...imports, '#messages': `${base}${catalogOf(language)}` } }),
  };
}

function assetOf(type: string, text: string): WebAsset {
  const octets = Buffer.from(text);
  return { type, octets, gzipped: gzipSync(octets, { level: 9 }) };
}

/** Removes the types and comments of a module: browsers run it as it is written. */
function moduleAsset(name: string): WebAsset {
  return assetOf(SCRIPT, stripTypes(readFileSync(new URL(name, CLIENT), 'utf8')));
}

function styleAsset(name: string): WebAsset {
  return assetOf(STYLE, readFileSync(new URL(name, CLIENT), 'utf8'));
}

/** Libraries whose file has comments: a quarter of its size. */
const COMMENTED = new Set(['dompurify/dist/purify.es.mjs']);

/** Source maps of libraries are not served. The comment with the license, which is the first one, stays. */
function libraryText(file: string): string {
  const path = createRequire(import.meta.url)
    .resolve('../../package.json')
    .replace(/package\.json$/, 'node_modules/');
  const text = readFileSync(`${path}${file}`, 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
  if (!COMMENTED.has(file)) return text;
  return `${text.slice(0, text.indexOf('*/') + 2)}\n${stripTypes(text)}`;
}
