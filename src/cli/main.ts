import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadSettings } from '../../config/load.ts';
import { version } from '../version.ts';
import { ask } from './ask.ts';
import { help, helpOn } from './help.ts';
import { PROGRAMS } from './programs.ts';
import { complain, misused, say, WRONG_USE } from './say.ts';
import type { Options, Words } from './verb.ts';
import { VERBS } from './verbs.ts';

/** What is given to clients in the environment, and is no setting. */
const { MAILSTEAD_TOKEN: token, ...env } = process.env;

/** Does what the arguments ask. Answers the exit code; `serve` does not end here. */
async function main(argv: string[]): Promise<number> {
  const given = understand(argv);
  if (typeof given === 'string') return complain(given, WRONG_USE);
  const { values } = given;
  const positionals = given.positionals.length === 0 ? ['serve'] : given.positionals;
  const named = <T extends Words>(all: readonly T[]): T | undefined =>
    all.find((one) => `${positionals.join(' ')} `.startsWith(`${one.words} `));
  const [verb, program] = [named(VERBS), named(PROGRAMS)];
  const what = verb ?? program;
  if (values.version === true) return say(version());
  if (values.help === true) return say(what === undefined || given.positionals.length === 0 ? help() : helpOn(what));
  if (what === undefined) return complain(`there is no "${positionals.join(' ')}": see mailstead --help`, WRONG_USE);
  if (OWN.some((name) => values[name] !== undefined && what.options?.includes(name) !== true)) return misused(what);
  const args = positionals.slice(what.words.split(' ').length);
  const dataDir = (): string | undefined => dataDirOf(values);
  if (verb === undefined) return program?.run({ args, argv, options: values, env, token, dataDir }) ?? WRONG_USE;
  const asked = verb.ask(args, { ...values, stdin: () => readFileSync(0, 'utf8') });
  if (asked === undefined) return misused(verb);
  const where = dataDir();
  return where === undefined ? WRONG_USE : ask(verb, asked, { where, org: values.org, json: values.json === true });
}

function understand(args: string[]): { values: Values; positionals: string[] } | string {
  try {
    return parseArgs({ args, allowPositionals: true, options: OPTIONS });
  } catch (error) {
    return `${(error as Error).message}: see mailstead --help`;
  }
}

const OPTIONS = {
  'env-file': { type: 'string', multiple: true },
  'data-dir': { type: 'string' },
  'password-stdin': { type: 'boolean' },
  actions: { type: 'string' },
  org: { type: 'string' },
  markdown: { type: 'boolean' },
  url: { type: 'string' },
  'token-file': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

/** Options that only some words understand. */
const OWN = ['password-stdin', 'actions', 'org', 'markdown', 'url', 'token-file'] as const satisfies (keyof Options)[];

interface Values extends Options {
  'env-file'?: string[] | undefined;
  'data-dir'?: string | undefined;
  json?: boolean | undefined;
  help?: boolean | undefined;
  version?: boolean | undefined;
}

function dataDirOf(values: Values): string | undefined {
  const named = values['data-dir'];
  if (named !== undefined) return resolve(named);
  const files = (values['env-file'] ?? []).flatMap((file) => ['--env-file', file]);
  const settings = loadSettings(env, files);
  if (!('problem' in settings)) return settings.dataDir;
  complain(settings.problem, WRONG_USE);
  return undefined;
}

process.exitCode = await main(process.argv.slice(2));
