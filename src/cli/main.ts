import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadSettings } from '../../config/load.ts';
import { askServer } from '../control/client.ts';
import { version } from '../version.ts';
import { help, helpOn } from './help.ts';
import { VERBS, type Verb } from './verbs.ts';

const WRONG_USE = 2;

/** Does what the arguments ask. Answers the exit code; `serve` does not end here. */
async function main(args: string[]): Promise<number> {
  const given = understand(args);
  if (typeof given === 'string') return complain(given, WRONG_USE);
  const { values, positionals } = given;
  const verb = VERBS.find((one) => `${positionals.join(' ')} `.startsWith(`${one.words} `));
  if (values.version === true) return say(version());
  if (values.help === true) return say(verb === undefined ? help() : helpOn(verb));
  if (verb !== undefined) return ask(verb, positionals.slice(verb.words.split(' ').length), values);
  if (positionals.length > 1 || (positionals[0] ?? 'serve') !== 'serve') {
    return complain(`there is no "${positionals.join(' ')}": see mailstead --help`, WRONG_USE);
  }
  // Only now: a verb need not wait for the whole server to load.
  const { serve } = await import('../main.ts');
  await serve(args, process.env);
  return 0;
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
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

interface Values {
  'env-file'?: string[] | undefined;
  'data-dir'?: string | undefined;
  'password-stdin'?: boolean | undefined;
  json?: boolean | undefined;
  help?: boolean | undefined;
  version?: boolean | undefined;
}

async function ask(verb: Verb, args: readonly string[], values: Values): Promise<number> {
  const wantsPassword = values['password-stdin'] === true;
  const input = verb.input(args, wantsPassword ? readFileSync(0, 'utf8').replace(/\r?\n$/, '') : undefined);
  if (input === undefined || (wantsPassword && verb.password !== true)) {
    return complain(`usage: mailstead ${verb.words} ${verb.usage}`.trimEnd(), WRONG_USE);
  }
  const dataDir = dataDirOf(values);
  if (typeof dataDir !== 'string') return complain(dataDir.problem, WRONG_USE);
  const answer = await askServer(dataDir, verb.operation, input);
  if (answer.kind !== 'done') return complain(answer.message, 1);
  return say(values.json === true ? JSON.stringify(answer.result, null, 2) : verb.show(answer.result as never));
}

function dataDirOf(values: Values): string | { problem: string } {
  const named = values['data-dir'];
  if (named !== undefined) return resolve(named);
  const settings = loadSettings(
    process.env,
    (values['env-file'] ?? []).flatMap((file) => ['--env-file', file]),
  );
  return 'problem' in settings ? settings : settings.dataDir;
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function complain(sentence: string, code: number): number {
  process.stderr.write(`mailstead: ${sentence}\n`);
  return code;
}

process.exitCode = await main(process.argv.slice(2));
