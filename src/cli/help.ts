import { PROGRAMS } from './programs.ts';
import type { Words } from './verb.ts';
import { VERBS } from './verbs.ts';

const WIDTH = 46;

/** What `mailstead --help` says. */
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
    '  --json            print the answer as JSON',
    '  --data-dir DIR    the data directory of the server (else MAILSTEAD_DATA_DIR, else ./data)',
    '  --env-file FILE   settings, see config/example.env',
    '  --version, --help',
    '',
    'Exit codes: 0 done, 1 failed, 2 wrong use. Verbs talk to the running server through its data directory.',
  ].join('\n');
}

function line({ words, usage, about }: Words): string {
  const left = `${words} ${usage}`.trim();
  // A line of its own when there is no room: nothing is cut.
  return left.length < WIDTH ? `  ${left.padEnd(WIDTH)}${about}` : `  ${left}\n${' '.repeat(WIDTH + 2)}${about}`;
}

/** What `mailstead VERB --help` says. */
export function helpOn({ words, usage, about }: Words): string {
  return `Usage: mailstead ${`${words} ${usage}`.trim()} [--json] [--data-dir DIR]\n\n${about}.`;
}
