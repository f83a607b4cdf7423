import type { ServerAddress } from '../mcp-stdio/endpoint.ts';
import { BACKUP_PROGRAMS } from './backup-programs.ts';
import { exportMailbox } from './export-program.ts';
import { exportOrganization } from './organization-export-program.ts';
import { importFile, importImap } from './import-programs.ts';
import { move } from './move-program.ts';
import { printError, DONE, FAILED, printUsage, printLine, USAGE_ERROR } from './output.ts';
import type { CliProgram, ProgramInput } from './program.ts';
import { setupProgram } from './setup-program.ts';
import { undelete } from './undelete-program.ts';

const serve: CliProgram = {
  words: 'serve',
  usage: '',
  about: 'Run the server (the default)',
  async run({ args, argv, env, serve: start }) {
    if (args.length > 0) return printUsage(serve);
    await start(argv, env);
    return DONE;
  },
};

const tools: CliProgram = {
  words: 'tools',
  usage: '[NAME|WORD...] [--markdown|--digests]',
  about: 'List operations, or describe one; --markdown prints docs/tools.md',
  options: ['markdown', 'digests'],
  async run({ args, options }) {
    const { listTools, toolDigests, toolsPage } = await import('./tools.ts');
    if (options.digests === true) return args.length > 0 ? printUsage(tools) : printLine(toolDigests());
    if (options.markdown === true) return args.length > 0 ? printUsage(tools) : printLine(toolsPage().trimEnd());
    return printLine(listTools(args, options.json === true));
  },
};

const mcp: CliProgram = {
  words: 'mcp',
  usage: '[--url URL] [--token-file FILE]',
  about: 'Run an MCP server on standard input and output (MAILSTEAD_TOKEN)',
  options: ['url', 'token-file'],
  async run(start) {
    if (start.args.length > 0) return printUsage(mcp);
    const { bridgeStdio, readTokenFile } = await import('../mcp-stdio/stdio.ts');
    const file = start.options['token-file'];
    const token = file === undefined ? start.token : readTokenFile(file);
    if (typeof token === 'object') return printError(token.problem, FAILED);
    const place = await serverFor(start);
    if (typeof place === 'number') return place;
    await bridgeStdio(place, token);
    return DONE;
  },
};

/** Address of the server; the exit code after printing an error. */
async function serverFor({ options, dataDir }: ProgramInput): Promise<ServerAddress | number> {
  const { parseServerUrl, findLocalServer } = await import('../mcp-stdio/endpoint.ts');
  if (options.url !== undefined) {
    const named = parseServerUrl(options.url);
    return 'problem' in named ? printError(named.problem, USAGE_ERROR) : named;
  }
  const directory = dataDir();
  if (directory === undefined) return USAGE_ERROR;
  const found = await findLocalServer(directory);
  return 'problem' in found ? printError(found.problem, FAILED) : found;
}

/** In the order of the help. */
export const PROGRAMS: readonly CliProgram[] = [
  serve,
  setupProgram,
  tools,
  mcp,
  importImap,
  importFile,
  exportMailbox,
  exportOrganization,
  undelete,
  ...BACKUP_PROGRAMS,
  move,
];
