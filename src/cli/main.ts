import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadSettings } from '../../config/load.ts';
import { version } from '../version.ts';
import { ask } from './ask.ts';
import { help, helpOn } from './help.ts';
import { PROGRAMS } from './programs.ts';
import { complain, misused, say, WRONG_USE } from './say.ts';
import type { Options, Verb, Words } from './verb.ts';
import { VERBS } from './verbs.ts';

/** What is given to clients in the environment, and is no setting. */
const { MAILSTEAD_TOKEN: token, ...env } = process.env;

/** Does what the arguments ask. Answers the exit code; `serve` does not end here. */
async function main(argv: string[]): Promise<number> {
  const given = understand(argv);
  if (typeof given === 'string') return complain(given, WRONG_USE);
  const { values, positionals } = given;
  const words = positionals.length === 0 ? ['serve'] : positionals;
  const what = named(VERBS, words) ?? named(PROGRAMS, words);
  if (values.version === true) return say(version());
  if (values.help === true) return say(what === undefined || positionals.length === 0 ? help() : helpOn(what));
  if (what === undefined) return complain(`there is no "${words.join(' ')}": see mailstead --help`, WRONG_USE);
  if (OWN.some((name) => values[name] !== undefined && what.options?.includes(name) !== true)) return misused(what);
  const args = words.slice(what.words.split(' ').length);
  if ('ask' in what) return askFor(what, args, values);
  return what.run({ args, argv, options: values, env, token, dataDir: () => dataDirOf(values) });
}

function named<T extends Words>(all: readonly T[], words: readonly string[]): T | undefined {
  return all.find((one) => `${words.join(' ')} `.startsWith(`${one.words} `));
}

async function askFor(verb: Verb, args: readonly string[], values: Values): Promise<number> {
  const asked = verb.ask(args, { ...values, stdin: () => readFileSync(0, 'utf8') });
  if (asked === undefined) return misused(verb);
  const where = dataDirOf(values);
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
  digests: { type: 'boolean' },
  url: { type: 'string' },
  'token-file': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

/** Options that only some words understand. */
const OWN = [
  'password-stdin',
  'actions',
  'org',
  'markdown',
  'digests',
  'url',
  'token-file',
] as const satisfies (keyof Options)[];

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
