import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../peers/run.ts';

const MODULES = join(import.meta.dirname, '../../node_modules');

/** The published suites: the stable one, and the one that knows the current revision. */
const SUITES = {
  stable: join(MODULES, '@modelcontextprotocol/conformance/dist/index.js'),
  next: join(MODULES, 'conformance-next/dist/index.js'),
} as const;

export interface SuiteResult {
  status: number | null;
  /** Scenarios that count, each with the numbers of its checks. */
  scored: Map<string, { passed: number; failed: number }>;
  output: string;
}

/** Runs a suite against a server and reads its summary. With a revision only what that requires counts. */
export async function runSuite(
  suite: keyof typeof SUITES,
  url: string,
  { revision, expected }: { revision?: string; expected?: string },
): Promise<SuiteResult> {
  const results = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const args = [SUITES[suite], 'server', '--url', url, '--output-dir', results];
    if (revision !== undefined) args.push('--requirements', revision);
    if (expected !== undefined) args.push('--expected-failures', expected);
    const { status, out, err } = await run(process.execPath, args, { patienceMs: 150_000 });
    const text = Buffer.from(out, 'latin1').toString('utf8');
    const required = revision === undefined ? undefined : await requiredBy(revision);
    return { status, scored: scoredIn(text, required), output: `${text}\n${err}` };
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

/** The scenarios that a revision requires of servers, as the suite's own list has them. */
async function requiredBy(revision: string): Promise<Set<string>> {
  const file = await readFile(join(MODULES, `conformance-next/requirements/${revision}.yaml`), 'utf8');
  const list = /^server:\n((?: {2}- .*\n)+)/m.exec(file)?.[1] ?? '';
  return new Set([...list.matchAll(/^ {2}- (\S+)$/gm)].map((found) => found[1] ?? ''));
}

function scoredIn(text: string, required: Set<string> | undefined): SuiteResult['scored'] {
  const summary = text.slice(text.indexOf('=== SUMMARY ==='));
  const lines = [...summary.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm)];
  return new Map(
    lines
      .filter(([, name = '']) => required?.has(name) !== false)
      .map(([, name = '', passed, failed]) => [name, { passed: Number(passed), failed: Number(failed) }]),
  );
}

/** Names of the scenarios in which a check failed. */
export function failing({ scored }: SuiteResult): string[] {
  return [...scored].filter(([, { failed }]) => failed > 0).map(([name]) => name);
}
