import { Script } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { webAssets } from '../../../src/webmail/asset.ts';
import { serviceWorker } from '../../../src/webmail/installable.ts';
import { LANGUAGES } from '../../../src/webmail/language.ts';

describe('the files of web mail', () => {
  const assets = webAssets();

  test.each(LANGUAGES)('have at most 150 kB compressed in all, with the messages of one language: %s', (language) => {
    const loaded = assets.modulesOf(language);
    expect(loaded.filter((path) => path.startsWith('languages/'))).toEqual([`languages/${language}.ts`]);
    const files = [...assets.files].filter(([path]) => !path.endsWith('.ts') || loaded.includes(path));
    const total = files.reduce((sum, [, { gzipped }]) => sum + gzipped.length, 0);
    expect(total).toBeLessThan(150_000);
    expect(total).toBeGreaterThan(20_000);
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
    const first = assets.firstModulesOf('en');
    expect(first).toContain('main.ts');
    expect(first).toContain('lib/preact.js');
    expect(first.filter((path) => path.includes('ical') || path.startsWith('calendar/'))).toEqual([]);
    expect(assets.modulesOf('en')).toContain('calendar/invitation-card.ts');
  });

  test('alone are in the cache of the service worker: never mail', () => {
    const script = serviceWorker(assets, 'de');
    expect(script).toContain(assets.base);
    expect(script.match(/languages\/\w+/g)).toEqual(['languages/de']);
    expect(script).not.toContain('/mail/jmap');
    expect(() => new Script(script)).not.toThrow();
  });
});
