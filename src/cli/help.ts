import { VERBS, type Verb } from './verbs.ts';

const line = (words: string, about: string): string => `  ${words.padEnd(46)}${about}`;

/** What `mailstead --help` says. */
export function help(): string {
  return [
    'Mailstead: a mail server for a small team and its agents, in one process.',
    '',
    'Usage: mailstead [serve] [--env-file FILE]',
    '       mailstead VERB [ARGUMENT...] [--json] [--data-dir DIR]',
    '',
    line('serve', 'Run the server (the default)'),
    ...VERBS.map((verb) => line(`${verb.words} ${verb.usage}`.trim(), verb.about)),
    '',
    '  --json            print the answer as JSON',
    '  --data-dir DIR    the data directory of the server (else MAILSTEAD_DATA_DIR, else ./data)',
    '  --env-file FILE   settings, see config/example.env',
    '  --version, --help',
    '',
    'Exit codes: 0 done, 1 failed, 2 wrong use. Verbs talk to the running server through its data directory.',
  ].join('\n');
}

/** What `mailstead VERB --help` says. */
export function helpOn(verb: Verb): string {
  return `Usage: mailstead ${`${verb.words} ${verb.usage}`.trim()} [--json] [--data-dir DIR]\n\n${verb.about}.`;
}
