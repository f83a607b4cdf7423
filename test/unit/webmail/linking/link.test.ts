import { SourceMap } from 'node:module';
import { posix } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { type LinkedScript, linkScript } from '../../../../src/webmail/linking/link.ts';

type Modules = Record<string, string>;

function link(modules: Modules, options: Partial<Parameters<typeof linkScript>[0]> = {}): LinkedScript {
  return linkScript({
    entry: 'main.ts',
    textOf: (path) => modules[path] ?? '',
    resolve: (name, from) => (name.startsWith('.') ? posix.join(posix.dirname(from), name) : name),
    ...options,
  });
}

/** Values that the modules of a script pass to `said(...)`. */
function run({ text }: LinkedScript): unknown[] {
  const said: unknown[] = [];
  runInNewContext(text, { said: (what: unknown) => said.push(what) });
  return said;
}

describe('a linked script', () => {
  test('runs each module once, behind those that it imports, with names of its own', () => {
    const script = link({
      'main.ts': `import { one } from './a.ts';\nimport { two } from './b.ts';\nconst name = 'main';\nsaid([one, two, name]);`,
      'a.ts': `import { three } from './deep/c.ts';\nconst name = 'a';\nsaid(name);\nexport const one = 1 + three;`,
      'b.ts': `import { three as own } from './deep/c.ts';\nconst name = 'b';\nsaid(name);\nexport function two() {\n  return own;\n}`,
      'deep/c.ts': `said('c');\nexport const three = 3;`,
    });
    const said = run(script);
    expect(said.slice(0, 3)).toEqual(['c', 'a', 'b']);
    expect(said[3]).toEqual([4, expect.any(Function), 'main']);
    expect([...script.modules]).toEqual(['deep/c.ts', 'a.ts', 'b.ts', 'main.ts']);
  });

  test('takes every form of import and export that modules of web mail and minified libraries have', () => {
    const script = link({
      'main.ts': `import given from 'x';`,
      x: `import{h as n,Fragment as f}from"y";const q=n+f;export{Signal,batch as group}from"z";export default function(s){return s}said(q);`,
      y: `const a=1,b=2;export{a as h,b as Fragment};`,
      z: `export class Signal {}\nexport async function batch() {}\nexport const list = [];\n`,
    });
    expect(run(script)).toEqual([3]);
    expect(
      run(
        link({
          'main.ts': `import { Signal, group } from 'x';\nsaid(typeof Signal + typeof group);`,
          x: `export { Signal, batch as group } from 'z';`,
          z: `export class Signal {}\nexport function batch() {}`,
        }),
      ),
    ).toEqual(['functionfunction']);
    expect(
      run(link({ 'main.ts': `import named from 'x';\nsaid(named(4));`, x: `export default function(s){return s}` })),
    ).toEqual([4]);
  });

  test.each([
    ['a variable that changes later', `export let changing = 1;`, 'export let changing'],
    ['a namespace', `import * as all from './a.ts';`, 'import \\* as all'],
    ['all exports of another module', `export * from './a.ts';`, 'export \\* from'],
    ['an import for its effect', `import './a.ts';`, `import './a.ts'`],
    ['a default that has a name', `export default function named() {}`, 'export default function named'],
    ['a default with names', `import a, { b } from './a.ts';`, 'import a, { b }'],
  ])('is not made of what would run otherwise than in modules: %s', (_, text, why) => {
    expect(() => link({ 'main.ts': text })).toThrow(new RegExp(`main.ts has a statement that is not linked: ${why}`));
  });

  test('is not made of modules that import each other', () => {
    const modules = {
      'main.ts': `import { a } from './a.ts';`,
      'a.ts': `import { b } from './main.ts';\nexport const a = 1;`,
    };
    expect(() => link(modules)).toThrow('Modules import each other: main.ts, a.ts, main.ts');
  });

  test('that is loaded later uses the modules of the earlier one, with their state', () => {
    const modules = {
      'main.ts': `import { count } from './state.ts';\nsaid(count());\nglobalThis.first = count;`,
      'state.ts': `let n = 0;\nexport function count() {\n  n += 1;\n  return n;\n}`,
      'later.ts': `import { count } from './state.ts';\nimport { own } from './own.ts';\nexport function answer() {\n  return [own, count(), count === globalThis.first];\n}`,
      'own.ts': `export const own = 'own';`,
    };
    const page = link(modules);
    const later = link(modules, { entry: 'later.ts', earlier: page.modules });
    expect([[...later.modules], [...later.uses]]).toEqual([['own.ts', 'later.ts'], ['state.ts']]);
    expect(later.text).toMatch(/^export const \{ answer \} = m1;$/m);
    const whole = `${link(modules, { shared: later.uses }).text}${later.text.replace('export const { answer }', 'const { answer }')}said(answer());`;
    expect(run({ ...later, text: whole })).toEqual([1, ['own', 2, true]]);
  });

  test('has a source map that leads each line to that of its module', () => {
    const modules: Modules = {
      'main.ts': `import { one } from './a.ts';\n\nconst mark_main = one;\nsaid(mark_main);`,
      'a.ts': `const first = 1;\nfunction mark_a() {\n  return first;\n}\nexport const one = mark_a();`,
    };
    const { text, map } = link(modules);
    const found = new SourceMap(JSON.parse(map));
    const lines = text.split('\n');
    const originOf = (mark: string) => {
      const { originalSource, originalLine } = found.findEntry(
        lines.findIndex((one) => one.startsWith(mark)),
        0,
      ) as {
        originalSource: string;
        originalLine: number;
      };
      return [originalSource, modules[originalSource]?.split('\n')[originalLine]];
    };
    expect(originOf('const mark_main')).toEqual(['main.ts', 'const mark_main = one;']);
    expect(originOf('function mark_a')).toEqual(['a.ts', 'function mark_a() {']);
    expect(originOf('said(mark_main)')).toEqual(['main.ts', 'said(mark_main);']);
  });
});
