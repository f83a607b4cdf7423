import { readFile } from 'node:fs/promises';
import { REFUSALS } from '../../operations/refusal.ts';

const DOCS = new URL('../../../docs/', import.meta.url);

/** A text of our own that agents can read. */
export interface Document {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly text: () => Promise<string>;
}

const page = (name: string) => (): Promise<string> => readFile(new URL(name, DOCS), 'utf8');

export const DOCUMENTS: readonly Document[] = [
  {
    uri: 'docs://guide',
    name: 'guide',
    title: 'Guide',
    description: 'From nothing to a mailbox that sends and receives.',
    text: page('quickstart-agent.md'),
  },
  {
    uri: 'docs://errors',
    name: 'errors',
    title: 'Refusals',
    description: 'What a refusal looks like, and every code.',
    text: async () => errorsText(),
  },
  {
    uri: 'docs://safety',
    name: 'safety',
    title: 'Reading safely',
    description: "How strangers' text is marked, and what is never believed.",
    text: page('reading.md'),
  },
];

function errorsText(): string {
  return [
    '# Refusals',
    '',
    'Every refusal is one object: `{"error": "<code>", "message": "<what to do next>", "requestId": "req_..."}`. Tools return it with `isError`, REST with a status. Do what the message says; with `retryAfterSeconds` come back after that time, and with `issues` change the arguments that are named.',
    '',
    '| code | status |',
    '|---|---|',
    ...Object.entries(REFUSALS).map(([code, status]) => `| ${code} | ${status} |`),
    '',
  ].join('\n');
}
