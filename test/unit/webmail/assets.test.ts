import { SourceMap } from 'node:module';
import { Script } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { isOfPdfViewer, webAssets } from '../../../src/webmail/asset.ts';
import { serviceWorker } from '../../../src/webmail/installable.ts';
import { LANGUAGES } from '../../../src/http/language.ts';

describe('the files of web mail', () => {
  const assets = webAssets();

  /** Modules that a linked script has. */
  const modulesIn = (path: string): string[] =>
    (JSON.parse(assets.files.get(`${path}.map`)?.octets.toString() ?? '{}') as { sources: string[] }).sources;
  const allOf = (language: (typeof LANGUAGES)[number]): string[] =>
    [assets.scriptOf(language), 'calendar.js'].flatMap(modulesIn);

  test.each(LANGUAGES)(
    'have at most 150 kB of scripts compressed, with the messages of one language: %s',
    (language) => {
      const catalog = allOf(language).filter((path) => path.startsWith('languages/'));
      expect(catalog).toContain(`languages/${language}.ts`);
      expect(new Set(catalog.map((path) => path.split(/[/.]/)[1]))).toEqual(new Set([language]));
      const sizeOf = (isStyle: boolean): number =>
        assets
          .filesOf(language)
          .filter((path) => path.endsWith('.css') === isStyle)
          .reduce((sum, path) => sum + (assets.files.get(path)?.gzipped.length ?? NaN), 0);
      expect(sizeOf(false)).toBeLessThan(150_000);
      expect(sizeOf(false)).toBeGreaterThan(20_000);
      expect(sizeOf(true)).toBeLessThan(8_000);
    },
  );

  test.each(LANGUAGES)(
    'are four for a page, which have each module once, also those that are loaded later: %s',
    (language) => {
      const linked = allOf(language);
      expect(new Set(linked).size).toBe(linked.length);
      const ofPage = [...assets.files.keys()].filter((path) => path.endsWith('.ts') && !isOfPdfViewer(path));
      const others = ofPage.filter((path) => path.startsWith('languages/') && !linked.includes(path));
      const left = ofPage.filter((path) => !linked.includes(path) && !others.includes(path));
      // They have types only.
      expect(left.map((path) => assets.files.get(path)?.octets.toString().trim())).toEqual(left.map(() => ''));
      const files = assets.filesOf(language);
      expect(files).toHaveLength(4);
      for (const path of files) expect(assets.files.has(path)).toBe(true);
    },
  );

  test.each(LANGUAGES)(
    'and the script of a page is a classic one, which service workers keep compiled: %s',
    (language) => {
      const text = assets.files.get(assets.scriptOf(language))?.octets.toString() ?? '';
      expect(() => new Script(text)).not.toThrow();
      const { imports } = JSON.parse(assets.importMapOf(language)) as { imports: Record<string, string> };
      const later = [...text.matchAll(/\bimport\('([^']+)'\)/g)].map(([, name = '']) => name);
      expect(later).toEqual(['./calendar.js']);
      const calendar = assets.files.get('calendar.js')?.octets.toString() ?? '';
      const byName = [...calendar.matchAll(/\bimport\('([^']+)'\)/g)].map(([, name = '']) => imports[name]);
      expect(new Set(byName)).toEqual(new Set([`${assets.base}lib/ical.js.js`]));
      expect(text.length).toBeGreaterThan(50_000);
    },
  );

  test('lead each line of a linked script to that of its module', () => {
    const path = assets.scriptOf('en');
    const map = new SourceMap(JSON.parse(assets.files.get(`${path}.map`)?.octets.toString() ?? ''));
    const textOf = (name: string): string[] => assets.files.get(name)?.octets.toString().split('\n') ?? [];
    const lines = textOf(path);
    expect(lines.at(-2)).toBe(`//# sourceMappingURL=${path}.map`);
    let compared = 0;
    for (const [at, line] of lines.entries()) {
      const entry = map.findEntry(at, 0) as { originalSource?: string; originalLine?: number; generatedLine?: number };
      if (entry.generatedLine !== at || entry.originalSource === undefined) continue;
      if (/^const (?:\{.*\} = m\d+;|\$default)|calendar\.js/.test(line)) continue;
      const original = textOf(entry.originalSource)[entry.originalLine ?? -1] ?? '';
      if (!/(?:^|[;}])(?:import|export)\s*[\s{]/.test(original)) expect([at, line]).toEqual([at, original]);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(3_000);
  });

  test('are modules without types, and every import has a file', () => {
    const { imports } = JSON.parse(assets.importMapOf('en')) as { imports: Record<string, string> };
    const missing: string[] = [];
    for (const [path, { octets }] of assets.files) {
      for (const [, name = ''] of octets
        .toString()
        .matchAll(/^(?:import|\} from|export [{*])[^'"\n]*['"]([^'"\n]+)['"];?$/gm)) {
        const file = new URL(name, `file:///${path}`).pathname.slice(1);
        const found = name.startsWith('.') ? assets.files.has(file) : name in imports;
        if (!found) missing.push(`${path}: ${name}`);
      }
      expect([path, /\binterface \w+ \{/.test(octets.toString())]).toEqual([path, false]);
    }
    expect(missing).toEqual([]);
    for (const path of Object.values(imports)) expect(assets.files.has(path.slice(assets.base.length))).toBe(true);
  });

  test('that read calendars are loaded with the first invitation only', () => {
    const first = modulesIn(assets.scriptOf('en'));
    expect(first).toEqual(expect.arrayContaining(['main.ts', 'lib/preact.js']));
    expect(first.filter((path) => path.includes('ical') || path.startsWith('calendar/'))).toEqual([]);
    expect(modulesIn('calendar.js')).toContain('calendar/invitation-card.ts');
  });

  test('that draw PDF documents are loaded by their frame only, and never by the page', () => {
    const viewer = [...assets.files.keys()].filter(isOfPdfViewer);
    expect(viewer).toEqual(expect.arrayContaining(['pdf/viewer.ts', 'pdf/viewer.css', 'lib/unpdf-pdfjs.js']));
    const ofPage = [...allOf('en'), ...assets.filesOf('en'), assets.importMapOf('en')].join('\n');
    for (const path of viewer) expect(ofPage + serviceWorker(assets, 'en')).not.toContain(path);
    for (const path of allOf('en')) expect(assets.files.get(path)?.octets.toString()).not.toMatch(/from '[^']*\/pdf\//);
  });

  test('alone are in the cache of the service worker: never mail', () => {
    const script = serviceWorker(assets, 'de');
    expect(script).toContain(assets.base);
    expect(script.match(/mail\.\w+\.js/g)).toEqual(['mail.de.js']);
    expect(script).not.toContain('/mail/jmap');
    expect(() => new Script(script)).not.toThrow();
  });
});
