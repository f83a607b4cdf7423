import { AGENT_VERBS, CANARY_VERBS } from './agent-verbs.ts';
import { BAN_VERBS, ORGANIZATION_VERBS } from './organization-verbs.ts';
import { CERTIFICATE_VERBS } from './certificate-verbs.ts';
import { DELETION_VERBS } from './deletion-verbs.ts';
import { MAIL_VERBS } from './mail-verbs.ts';
import { jsonText } from './output.ts';
import type { Verb, VerbInput } from './verb.ts';

/** `mailstead call`: any operation by name. */
const call: Verb = {
  words: 'call',
  usage: 'NAME [JSON|-|KEY=TEXT|KEY:=JSON ...] [--org ID]',
  about: 'Call any operation; "-" reads JSON from standard input',
  options: ['org'],
  parse([operation, ...args], given) {
    if (operation === undefined || !/^[a-z][a-z_]*$/.test(operation)) return undefined;
    const input = inputOf(args, given);
    return input && { operation, input };
  },
  show: (result: unknown) => jsonText(result, 2),
};

function inputOf(args: readonly string[], given: VerbInput): object | undefined {
  const [first] = args;
  if (args.length === 1 && first === '-') return objectIn(given.stdin());
  if (args.length === 1 && first?.trimStart().startsWith('{') === true) return objectIn(first);
  return pairs(args);
}

function objectIn(text: string): object | undefined {
  const value = json(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** Parses KEY=TEXT and KEY:=JSON. A repeated key becomes a list. */
function pairs(args: readonly string[]): object | undefined {
  const input = new Map<string, unknown[]>();
  for (const arg of args) {
    const [, key, operator, text = ''] = /^(\w+)(:?=)(.*)$/s.exec(arg) ?? [];
    const value = operator === ':=' ? json(text) : text;
    if (key === undefined || value === undefined) return undefined;
    input.set(key, [...(input.get(key) ?? []), value]);
  }
  return Object.fromEntries([...input].map(([key, values]) => [key, values.length === 1 ? values[0] : values]));
}

/** Undefined if not JSON. */
function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Commands that call the running server. */
export const VERBS: readonly Verb[] = [
  ...MAIL_VERBS,
  ...DELETION_VERBS,
  ...CERTIFICATE_VERBS,
  ...ORGANIZATION_VERBS,
  ...BAN_VERBS,
  ...AGENT_VERBS,
  ...CANARY_VERBS,
  call,
];
