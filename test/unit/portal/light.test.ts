import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('the pages load no schemas: a box that nobody asks does not pay for the catalogue', () => {
  const routes = new URL('../../../src/portal/routes.ts', import.meta.url).href;
  const script = `
    import { registerHooks } from 'node:module';
    const heavy = [];
    registerHooks({ resolve(name, context, next) {
      const found = next(name, context);
      if (/node_modules.(?:zod|@modelcontextprotocol)/.test(found.url)) heavy.push(name);
      return found;
    } });
    await import(${JSON.stringify(routes)});
    console.log(JSON.stringify(heavy));
  `;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(JSON.parse(out)).toEqual([]);
});
