import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { Writable } from 'node:stream';
import { callServer } from '../operator-socket/client.ts';
import { DONE, FAILED, printError, printJson, printLine, printUsage, USAGE_ERROR } from './output.ts';
import type { CliProgram } from './program.ts';
import { runSetup } from './setup-steps.ts';
import { type SetupArguments, type SetupOutcome, SetupStopped, type SetupTerminal } from './setup-terminal.ts';

/** `mailstead setup`: the steps of the set-up page, in a terminal. */
export const setupProgram: CliProgram = {
  words: 'setup',
  usage: '[--domain DOMAIN] [--provider NAME --credentials FILE] [--mailbox NAME] [--device NAME]',
  about: 'Set up owner, domain, DNS, mailbox and phone; exit code 1 while steps are open',
  options: ['domain', 'mailbox', 'provider', 'credentials', 'device'],
  async run({ args, options: { json = false, ...options }, dataDir: dataDirOf }) {
    if (args.length > 0 || (options.provider === undefined) !== (options.credentials === undefined))
      return printUsage(setupProgram);
    const dataDir = dataDirOf();
    if (dataDir === undefined) return USAGE_ERROR;
    try {
      const { domain, mailbox, device } = options;
      const steps = await runSetup(terminalOf(dataDir, json), {
        domain,
        mailbox,
        device,
        provider: providerOf(options),
      });
      if (json) printJson({ steps });
      return isComplete(steps) ? DONE : FAILED;
    } catch (error) {
      if (error instanceof SetupStopped) return printError(error.message, FAILED);
      throw error;
    }
  },
};

/** A team that uses computers only has no phone. */
function isComplete(steps: readonly SetupOutcome[]): boolean {
  const needed = steps.filter(({ step }) => step !== 'phone');
  return needed.length === 4 && needed.every(({ state }) => state === 'done');
}

/** Credentials come from a file: arguments are visible to all users of the machine. */
function providerOf({
  provider,
  credentials,
}: {
  provider?: string | undefined;
  credentials?: string | undefined;
}): SetupArguments['provider'] {
  if (provider === undefined || credentials === undefined) return undefined;
  try {
    return { id: provider, credentials: JSON.parse(readFileSync(credentials === '-' ? 0 : credentials, 'utf8')) };
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is no JSON' : (error as Error).message;
    throw new SetupStopped(`Cannot read the credentials from ${credentials}: ${reason}. Example: {"token": "..."}`);
  }
}

function terminalOf(dataDir: string, json: boolean): SetupTerminal {
  const interactive = process.stdin.isTTY && !json;
  const nobody = (): Promise<undefined> => Promise.resolve(undefined);
  return {
    call: (operation, input) => callServer(dataDir, operation, input),
    ask: interactive ? (question) => askLine(question, process.stdout) : nobody,
    askSecret: interactive ? askHidden : nobody,
    print: json ? () => undefined : (text) => void printLine(text),
    wait,
  };
}

/** Undefined where the input ends (Ctrl-D). */
async function askLine(question: string, output: NodeJS.WritableStream): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  const ended = new Promise<undefined>((resolve) => void lines.once('close', () => resolve(undefined)));
  lines.once('SIGINT', () => process.exit(130));
  try {
    return (await Promise.race([lines.question(question), ended]))?.trim();
  } finally {
    lines.close();
  }
}

/** The line editor shows what is typed on its output, which shows nothing here. */
async function askHidden(question: string): Promise<string | undefined> {
  process.stdout.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const typed = await askLine('', nowhere);
  process.stdout.write('\n');
  return typed;
}
