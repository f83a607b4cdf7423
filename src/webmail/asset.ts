import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { posix } from 'node:path';
import { stripTypes } from '../http/strip-types.ts';
import { LANGUAGES, type PageLanguage } from '../http/language.ts';
import { type LinkedScript, linkScript } from './linking/link.ts';

/** A file that browsers load, in memory. */
export interface WebAsset {
  type: string;
  octets: Buffer;
  /** The same, compressed by gzip at the first use. */
  readonly gzipped: Buffer;
}

/** Everything that web mail loads, by path below {@link AssetSet.base}. */
export interface AssetSet {
  /** Path prefix with a hash of the contents, so that browsers may cache without expiry. */
  readonly base: string;
  readonly files: ReadonlyMap<string, WebAsset>;
  /** Path of the script of a page: all modules that it needs to start, linked. */
  readonly scriptOf: (language: PageLanguage) => string;
  /** Paths of all scripts and styles that a page of the language can load. */
  readonly filesOf: (language: PageLanguage) => readonly string[];
  /** Import map for the names of libraries and for the messages of the language, as JSON. */
  readonly importMapOf: (language: PageLanguage) => string;
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
  ['dompurify', 'dompurify/dist/purify.min.js'],
  ['ical.js', 'ical.js/dist/ical.min.js'],
  ['unpdf/pdfjs', 'unpdf/dist/pdfjs.mjs'],
];

/** The reader of calendars, which is loaded when it is needed: its first module, the script that it is linked into, its library. */
const LATER = { entry: 'calendar/invitation-card.ts', script: 'calendar.js', library: 'lib/ical.js.js' };

/** Files that only the frame for PDF documents loads: they are no part of the page. */
const VIEWER = /^(?:pdf\/|lib\/unpdf-)/;

/** Tests if a path is of the frame for PDF documents. */
export const isOfPdfViewer = (path: string): boolean => VIEWER.test(path);

const LIBRARY_FILES = LIBRARIES.map(([name, file]) => ({
  name,
  path: `lib/${name.replaceAll(/[@/]+/g, '-')}.js`,
  file,
}));
const PAGE_LIBRARIES = LIBRARY_FILES.filter(({ path }) => !isOfPdfViewer(path));

const CLIENT = new URL('./client/', import.meta.url);

/** The file of the messages of a language. */
const catalogOf = (language: PageLanguage): string => `languages/${language}.ts`;
const scriptOf = (language: PageLanguage): string => `mail.${language}.js`;

let loaded: AssetSet | undefined;

/** Loads all files once, at the first visit of web mail: the start of the box does not wait for them. */
export function webAssets(): AssetSet {
  loaded ??= loadAssets();
  return loaded;
}

function loadAssets(): AssetSet {
  const own = readdirSync(CLIENT, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:ts|css)$/.test(name));
  const modules = new Map(own.filter((name) => name.endsWith('.ts')).map((name) => [name, moduleText(name)]));
  for (const { path, file } of LIBRARY_FILES) modules.set(path, libraryText(file));
  const files = new Map<string, WebAsset>();
  for (const [path, text] of modules)
    files.set(path, assetOf(SCRIPT, path.endsWith('.ts') ? withoutIndent(text) : text));
  for (const name of own.filter((one) => one.endsWith('.css'))) files.set(name, styleAsset(name));
  for (const [path, script] of linkedScripts(modules)) {
    files.set(path, assetOf(SCRIPT, `${withoutIndent(script.text)}//# sourceMappingURL=${path}.map\n`));
    files.set(`${path}.map`, assetOf('application/json', script.map));
  }
  const base = `/mail/assets/${hashOf(files)}/`;
  const imports = Object.fromEntries(PAGE_LIBRARIES.map(({ name, path }) => [name, `${base}${path}`]));
  return {
    base,
    files,
    scriptOf,
    filesOf: (language) => ['style.css', scriptOf(language), LATER.script, LATER.library],
    importMapOf: (language) =>
      JSON.stringify({ imports: { ...imports, '#messages': `${base}${catalogOf(language)}` } }),
  };
}

function hashOf(files: ReadonlyMap<string, WebAsset>): string {
  const hash = createHash('sha256');
  for (const [path, { octets }] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(path).update(octets);
  return hash.digest('hex').slice(0, 16);
}

/** The scripts of a page: one for each language, and the one that is loaded later. */
function linkedScripts(modules: ReadonlyMap<string, string>): Map<string, LinkedScript> {
  const textOf = (path: string): string => {
    const text = modules.get(path);
    if (text === undefined) throw new Error(`Web mail imports ${path}, which is not there.`);
    return text.replaceAll(`import('./${LATER.entry}')`, `import('./${LATER.script}')`);
  };
  const inputOf = (language: PageLanguage): Parameters<typeof linkScript>[0] => ({
    entry: 'main.ts',
    textOf,
    resolve: (name, from) => pathOf(name, from, language),
  });
  const page = linkScript(inputOf('en'));
  const later = linkScript({ ...inputOf('en'), entry: LATER.entry, earlier: page.modules });
  const pages = LANGUAGES.map((language): [string, LinkedScript] => [
    scriptOf(language),
    linkScript({ ...inputOf(language), shared: later.uses }),
  ]);
  return new Map([...pages, [LATER.script, later]]);
}

/** The path of an imported module: that of a file, of a library, or of the messages. */
function pathOf(name: string, from: string, language: PageLanguage): string {
  if (name === '#messages') return catalogOf(language);
  if (name.startsWith('.')) return posix.join(posix.dirname(from), name);
  return PAGE_LIBRARIES.find((one) => one.name === name)?.path ?? name;
}

function assetOf(type: string, text: string): WebAsset {
  const octets = Buffer.from(text);
  let gzipped: Buffer | undefined;
  return {
    type,
    octets,
    get gzipped() {
      gzipped ??= gzipSync(octets, { level: 9 });
      return gzipped;
    },
  };
}

/** Removes indentation. Lines of markup in templates begin without it too, which HTML shows as the same. */
const withoutIndent = (text: string): string => text.replaceAll(/^[ \t]+/gm, '');

/** A module without types and comments: browsers run it as it is written. */
const moduleText = (name: string): string => stripTypes(readFileSync(new URL(name, CLIENT), 'utf8'));

function styleAsset(name: string): WebAsset {
  const text = readFileSync(new URL(name, CLIENT), 'utf8');
  return assetOf(STYLE, withoutIndent(text.replaceAll(/\/\*[^*]*\*\/\n?/g, '')));
}

/** Libraries that are no modules: the file sets what CommonJS exports. */
const COMMON_JS = new Set(['dompurify/dist/purify.min.js']);

/** Source maps of libraries are not served; the comment with the license is. */
function libraryText(file: string): string {
  const path = createRequire(import.meta.url)
    .resolve('../../package.json')
    .replace(/package\.json$/, 'node_modules/');
  const text = readFileSync(`${path}${file}`, 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
  if (!COMMON_JS.has(file)) return text;
  return `const exports = {}, module = { exports };\n${text}export default module.exports;\n`;
}
