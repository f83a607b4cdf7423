import type { ControlAnswer } from '../operator-socket/client.ts';

/** The world of the set-up: the running server, and the person at the terminal. */
export interface SetupTerminal {
  call: (operation: string, input: object) => Promise<ControlAnswer>;
  /** Asks for one line; undefined: nobody is there. */
  ask: (question: string) => Promise<string | undefined>;
  /** Asks for one line that is not shown while it is typed. */
  askSecret: (question: string) => Promise<string | undefined>;
  print: (text: string) => void;
  wait: (ms: number) => Promise<unknown>;
}

/** Arguments of the command. */
export interface SetupArguments {
  domain?: string | undefined;
  mailbox?: string | undefined;
  /** DNS provider to connect, with its credentials. */
  provider?: { id: string; credentials: unknown } | undefined;
  /** Name of the device to set up. */
  device?: string | undefined;
}

export const SETUP_STEPS = ['owner', 'domain', 'dns', 'mailbox', 'phone'] as const;

/** Result of a step: `open` waits for something that only a person can do elsewhere. */
export interface SetupOutcome {
  step: (typeof SETUP_STEPS)[number];
  state: 'done' | 'open';
  detail: string;
}

/** The server refused a step, or cannot be reached. */
export class SetupStopped extends Error {
  override readonly name = 'SetupStopped';
}

export interface ListedDomain {
  id: string;
  domain: string;
  status: 'verified' | 'unverified';
}

/** Returns the result of a call. @throws {SetupStopped} with the sentence of the server */
export async function resultOf<T>(answer: Promise<ControlAnswer>): Promise<T> {
  const got = await answer;
  if (got.kind === 'done') return got.result as T;
  throw new SetupStopped(got.message);
}

/** Times that a question is asked before the step stays open. */
const MAX_TRIES = 3;

/** Asks until one of the numbered lines is chosen; undefined: nobody is there, or none was chosen. */
export async function chooseLine(
  { ask, print }: Pick<SetupTerminal, 'ask' | 'print'>,
  title: string,
  lines: readonly string[],
): Promise<number | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    print([title, ...lines.map((line, i) => `  ${i + 1}  ${line}`)].join('\n'));
    const given = await ask('Number: ');
    if (given === undefined || given === '') return undefined;
    const chosen = /^\d{1,2}$/.test(given) ? Number(given) - 1 : -1;
    if (lines[chosen] !== undefined) return chosen;
    print(`Type a number from 1 to ${lines.length}, or nothing to do this later.`);
  }
  return undefined;
}
