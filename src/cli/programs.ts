import type { Place } from '../bridge/place.ts';
import { complain, DONE, FAILED, misused, say, WRONG_USE } from './say.ts';
import type { Options, Words } from './verb.ts';

/** What a program is given to run. */
export interface Start {
  /** The arguments behind its words. */
  args: readonly string[];
  /** All arguments, as they came. */
  argv: readonly string[];
  options: Options & { json?: boolean | undefined };
  env: NodeJS.ProcessEnv;
  /** What authenticates a client; no setting, so not in `env`. */
  token: string | undefined;
  /** Undefined: it cannot be known, and that was said. */
  dataDir: () => string | undefined;
}

/** Something that this process does itself, without asking a running server first. Parts are loaded at first use. */
export interface Program extends Words {
  run(start: Start): Promise<number>;
}

const serve: Program = {
  words: 'serve',
  usage: '',
  about: 'Run the server (the default)',
  async run({ args, argv, env }) {
    if (args.length > 0) return misused(serve);
    // Only now: a verb need not wait for the whole server to load.
    const main = await import('../main.ts');
    await main.serve(argv, env);
    return DONE;
  },
};

const tools: Program = {
  words: 'tools',
  usage: '[NAME|WORD...] [--markdown|--digests]',
  about: 'List operations, or tell all about one; or write docs/tools.md or their digests',
  options: ['markdown', 'digests'],
  async run({ args, options }) {
    const { listTools, toolDigests, toolsPage } = await import('./tools.ts');
    if (options.digests === true) return args.length > 0 ? misused(tools) : say(toolDigests());
    if (options.markdown === true) return args.length > 0 ? misused(tools) : say(toolsPage().trimEnd());
    return say(listTools(args, options.json === true));
  },
};

const mcp: Program = {
  words: 'mcp',
  usage: '[--url URL] [--token-file FILE]',
  about: 'Speak MCP on standard input and output, with the token in MAILSTEAD_TOKEN',
  options: ['url', 'token-file'],
  async run(start) {
    if (start.args.length > 0) return misused(mcp);
    const { bridgeStdio, tokenIn } = await import('../bridge/stdio.ts');
    const file = start.options['token-file'];
    const token = file === undefined ? start.token : tokenIn(file);
    if (typeof token === 'object') return complain(token.problem, FAILED);
    const place = await placeFor(start);
    if (typeof place === 'number') return place;
    await bridgeStdio(place, token);
    return DONE;
  },
};

/** The server that is meant, or the exit code when there is none and that was said. */
async function placeFor({ options, dataDir }: Start): Promise<Place | number> {
  const { placeOf, placeOfServer } = await import('../bridge/place.ts');
  if (options.url !== undefined) {
    const named = placeOf(options.url);
    return 'problem' in named ? complain(named.problem, WRONG_USE) : named;
  }
  const directory = dataDir();
  if (directory === undefined) return WRONG_USE;
  const found = await placeOfServer(directory);
  return 'problem' in found ? complain(found.problem, FAILED) : found;
}

/** In the order of the help. */
export const PROGRAMS: readonly Program[] = [serve, tools, mcp];
