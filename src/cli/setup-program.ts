import { createInterface } from 'node:readline/promises';
import { callServer } from '../operator-socket/client.ts';
import { DONE, FAILED, printError, printJson, printLine, printUsage, USAGE_ERROR } from './output.ts';
import type { CliProgram } from './program.ts';
import { runSetup, SetupStopped } from './setup-steps.ts';

/** `mailstead setup`: the steps of the set-up page, in a terminal. */
export const setupProgram: CliProgram = {
  words: 'setup',
  usage: '[--domain DOMAIN] [--mailbox NAME]',
  about: 'Set up owner, domain, DNS and first mailbox; exit code 1 while steps are open',
  options: ['domain', 'mailbox'],
  async run({ args, options: { domain, mailbox, json = false }, dataDir: dataDirOf }) {
    if (args.length > 0) return printUsage(setupProgram);
    const dataDir = dataDirOf();
    if (dataDir === undefined) return USAGE_ERROR;
    const interactive = process.stdin.isTTY && !json;
    try {
      const terminal = {
        call: (operation: string, input: object) => callServer(dataDir, operation, input),
        ask: interactive ? askLine : () => Promise.resolve(undefined),
        print: json ? () => undefined : (text: string) => void printLine(text),
      };
      const steps = await runSetup(terminal, { domain, mailbox });
      if (json) printJson({ steps });
      return steps.length === 4 && steps.every(({ state }) => state === 'done') ? DONE : FAILED;
    } catch (error) {
      if (error instanceof SetupStopped) return printError(error.message, FAILED);
      throw error;
    }
  },
};

async function askLine(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}
