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
  usage: '[NAME|WORD...] [--markdown]',
  about: 'List operations, or tell all about one; with --markdown as docs/tools.md',
  options: ['markdown'],
  async run({ args, options }) {
    const { listTools, toolsPage } = await import('./tools.ts');
    if (options.markdown === true) return args.length > 0 ? misused(tools) : say(toolsPage().trimEnd());
    return say(listTools(args, options.json === true));
  },
};

const mcp: Program = {
  words: 'mcp',
  usage: '[--url URL] [--token-file FILE]',
  about: 'Speak MCP on standard input and output, with the token in MAILSTEAD_TOKEN',
  options: ['url', 'token-file'],
  async run({ args, options, token, dataDir }) {
    if (args.length > 0) return misused(mcp);
    const [{ placeOf, placeOfServer }, { bridgeStdio, tokenIn }] = await Promise.all([
      import('../bridge/place.ts'),
      import('../bridge/stdio.ts'),
    ]);
    const file = options['token-file'];
    const secret = file === undefined ? token : tokenIn(file);
    if (typeof secret === 'object') return complain(secret.problem, FAILED);
    const directory = options.url === undefined ? dataDir() : '';
    if (directory === undefined) return WRONG_USE;
    const place = options.url === undefined ? await placeOfServer(directory) : placeOf(options.url);
    if ('problem' in place) return complain(place.problem, options.url === undefined ? FAILED : WRONG_USE);
    await bridgeStdio(place, secret);
    return DONE;
  },
};

/** In the order of the help. */
export const PROGRAMS: readonly Program[] = [serve, tools, mcp];
