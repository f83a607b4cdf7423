import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Lists of Debian's packages, each of a program and what it loads. `.ci/run` reads the same lists. */
const LISTS = join(import.meta.dirname, 'unpacked');

/**
 * Unpacks a program of Debian into a directory. It is not installed: Cyrus conflicts with the packages of other mail servers,
 * Roundcube wants a database and a web server, and a start would take their ports. `UNPACKED_PACKAGES` names a directory
 * that has the packages; without it apt-get fetches them.
 */
export function unpackPackages(program: 'cyrus' | 'roundcube', root: string): void {
  const names = readFileSync(join(LISTS, `${program}.txt`), 'utf8')
    .trim()
    .split('\n');
  const given = process.env['UNPACKED_PACKAGES'];
  const directory = given ?? fetchPackages(names);
  const files = readdirSync(directory);
  mkdirSync(root, { recursive: true });
  for (const name of names) {
    const file = files.find((one) => one.startsWith(`${name}_`) && one.endsWith('.deb'));
    if (file === undefined) throw new Error(`${directory} has no package ${name}: apt-get download ${name} there`);
    execFileSync('dpkg', ['-x', join(directory, file), root]);
  }
  if (given === undefined) rmSync(directory, { recursive: true });
}

function fetchPackages(names: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'packages-'));
  execFileSync('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', ...names], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return directory;
}
