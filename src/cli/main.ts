import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadSettings } from '../../config/load.ts';
import type { Settings } from '../../config/settings.ts';
import { version } from '../core/version.ts';
import type { ServeFunction } from './program.ts';
import { PROGRAMS } from './programs.ts';
import { printError, printJson, printJsonError, printUsage, printLine, USAGE_ERROR, FAILED } from './output.ts';
import type { CommandOptions, Verb, CommandHelp, OperationCall } from './verb.ts';
import { VERBS } from './verbs.ts';
import { callServer, type ControlAnswer } from '../operator-socket/client.ts';

/** The token is for clients, not a server setting. */
const { MAILSTEAD_TOKEN: token, ...env } = process.env;

/** Runs the verb or program that the arguments name and returns the exit code. `serve` runs the server until a signal ends it. */
export async function runCommandLine(argv: string[], serve: ServeFunction): Promise<number> {
  const given = parseCommandLine(argv);
  if (typeof given === 'string') return printError(given, USAGE_ERROR);
  const { values, positionals } = given;
  const words = positionals.length === 0 ? ['serve'] : positionals;
  const command = named(VERBS, words) ?? named(PROGRAMS, words);
  if (values.version === true) return printLine(version());
  if (values.help === true)
    return printLine(command === undefined || positionals.length === 0 ? help() : helpOn(command));
  if (command === undefined)
    return printError(`unknown command "${words.join(' ')}": see mailstead --help`, USAGE_ERROR);
  if (COMMAND_OPTIONS.some((name) => values[name] !== undefined && command.options?.includes(name) !== true))
    return printUsage(command);
  const args = words.slice(command.words.split(' ').length);
  if ('parse' in command) return callVerb(command, args, values);
  const [dataDir, settings] = [() => dataDirOf(values), () => settingsOf(values)];
  return command.run({ args, argv, options: values, env, token, dataDir, settings, serve });
}

function named<T extends CommandHelp>(all: readonly T[], words: readonly string[]): T | undefined {
  return all.find((one) => `${words.join(' ')} `.startsWith(`${one.words} `));
}

async function callVerb(verb: Verb, args: readonly string[], values: Values): Promise<number> {
  const call = verb.parse(args, { ...values, stdin: () => readFileSync(0, 'utf8') });
  if (call === undefined) return printUsage(verb);
  const dataDir = dataDirOf(values);
  return dataDir === undefined
    ? USAGE_ERROR
    : runVerb(verb, call, { dataDir, org: values.org, json: values.json === true });
}

function parseCommandLine(args: string[]): { values: Values; positionals: string[] } | string {
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
  permanently: { type: 'boolean' },
  at: { type: 'string' },
  domain: { type: 'string' },
  mailbox: { type: 'string' },
  message: { type: 'string' },
  provider: { type: 'string' },
  credentials: { type: 'string' },
  device: { type: 'string' },
  scratch: { type: 'string' },
  backup: { type: 'string' },
  check: { type: 'boolean' },
  continuous: { type: 'boolean' },
  url: { type: 'string' },
  to: { type: 'string' },
  'token-file': { type: 'string' },
  folder: { type: 'string' },
  format: { type: 'string' },
  since: { type: 'string' },
  'from-host': { type: 'string' },
  csv: { type: 'string' },
  user: { type: 'string' },
  'password-file': { type: 'string' },
  'oauth-token-file': { type: 'string' },
  port: { type: 'string' },
  tls: { type: 'string' },
  'any-certificate': { type: 'boolean' },
  labels: { type: 'string' },
  delete: { type: 'boolean' },
  drafts: { type: 'boolean' },
  'per-second': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

/** Options of some commands only. */
const COMMAND_OPTIONS = [
  'password-stdin',
  'actions',
  'org',
  'markdown',
  'digests',
  'to',
  'permanently',
  'at',
  'domain',
  'mailbox',
  'message',
  'provider',
  'credentials',
  'device',
  'scratch',
  'backup',
  'check',
  'continuous',
  'url',
  'token-file',
  'folder',
  'format',
  'since',
  'from-host',
  'csv',
  'user',
  'password-file',
  'oauth-token-file',
  'port',
  'tls',
  'any-certificate',
  'labels',
  'delete',
  'drafts',
  'per-second',
] as const satisfies (keyof CommandOptions)[];

interface Values extends CommandOptions {
  'env-file'?: string[] | undefined;
  'data-dir'?: string | undefined;
  json?: boolean | undefined;
  help?: boolean | undefined;
  version?: boolean | undefined;
}

function dataDirOf(values: Values): string | undefined {
  const named = values['data-dir'];
  if (named !== undefined) return resolve(named);
  return settingsOf(values)?.dataDir;
}

/** Settings from the environment and the named files; undefined after printing an error. */
function settingsOf(values: Values): Settings | undefined {
  const files = (values['env-file'] ?? []).flatMap((file) => ['--env-file', file]);
  const settings = loadSettings(env, files);
  if (!('problem' in settings)) return settings;
  printError(settings.problem, USAGE_ERROR);
  return undefined;
}

const WIDTH = 46;

/** Text of `mailstead --help`. */
export function help(): string {
  return [
    'Mailstead: a mail server for a small team and its agents, in one process.',
    '',
    'Usage: mailstead [serve] [--env-file FILE]',
    '       mailstead VERB [ARGUMENT...] [--json] [--data-dir DIR]',
    '',
    ...PROGRAMS.map(line),
    '',
    ...VERBS.map(line),
    '',
    '  --json            print the result as JSON',
    '  --data-dir DIR    the data directory of the server (default MAILSTEAD_DATA_DIR, then ./data)',
    '  --env-file FILE   settings, see config/example.env',
    '  --version, --help',
    '',
    'Exit codes: 0 success, 1 failure, 2 usage error. Commands reach the running server through its data directory.',
  ].join('\n');
}

function line({ words, usage, about }: CommandHelp): string {
  const left = `${words} ${usage}`.trim();
  // Long usage gets its own line.
  return left.length < WIDTH ? `  ${left.padEnd(WIDTH)}${about}` : `  ${left}\n${' '.repeat(WIDTH + 2)}${about}`;
}

/** Text of `mailstead VERB --help`. */
export function helpOn({ words, usage, about }: CommandHelp): string {
  return `Usage: mailstead ${`${words} ${usage}`.trim()} [--json] [--data-dir DIR]\n\n${about}.`;
}

const PAGE_SIZE = 100;

interface VerbOptions {
  /** The data directory of the server. */
  dataDir: string;
  /** Organization id; undefined for the operator's. */
  org: string | undefined;
  json: boolean;
}

/** Calls the operation on the running server, prints the result and returns the exit code. */
async function runVerb(verb: Verb, { operation, input }: OperationCall, options: VerbOptions): Promise<number> {
  const answer = await allPages(verb.pages, (page) =>
    callServer(options.dataDir, operation, { ...input, ...page }, options.org),
  );
  if (answer.kind === 'done') {
    if (options.json) printJson(answer.result);
    else printLine(verb.show(answer.result as never));
    return verb.succeeded?.(answer.result as never) === false ? FAILED : 0;
  }
  if (!options.json) return printError(answer.message, FAILED);
  const error = answer.kind === 'refused' ? answer.code : answer.kind;
  return printJsonError(error, answer.message);
}

/** Collects all pages of `list` into one result. */
async function allPages(
  list: string | undefined,
  askFor: (page: object) => Promise<ControlAnswer>,
): Promise<ControlAnswer> {
  if (list === undefined) return askFor({});
  const all: unknown[] = [];
  let cursor: unknown = null;
  do {
    const answer = await askFor({ limit: PAGE_SIZE, ...(cursor !== null && { cursor }) });
    if (answer.kind !== 'done') return answer;
    const page = answer.result as Record<string, unknown>;
    all.push(...(page[list] as unknown[]));
    cursor = page['nextCursor'];
  } while (typeof cursor === 'string');
  return { kind: 'done', result: { [list]: all } };
}
