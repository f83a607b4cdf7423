import type { MethodResponse } from './jmap-types.ts';

/**
 * Answers that the browser loads together with the scripts of the page, as the document names their address. Each is for one
 * request and is used once; a request that has none is sent.
 */
interface FirstReads {
  session: object;
  snoozed: object[];
  answers: { methodCalls: object[]; methodResponses: MethodResponse[] }[];
}

const answers = new Map<string, MethodResponse[]>();
let snoozed: object[] | undefined;

/** Keeps what was read, and returns the session. */
export function keepFirstReads<Session>(read: unknown): Session {
  const first = read as FirstReads;
  snoozed = first.snoozed;
  for (const { methodCalls, methodResponses } of first.answers)
    answers.set(JSON.stringify(methodCalls), methodResponses);
  return first.session as Session;
}

/** The answer to a request, the first time. */
export function takeFirstAnswer(methodCalls: readonly object[]): MethodResponse[] | undefined {
  if (answers.size === 0) return undefined;
  const key = JSON.stringify(methodCalls);
  const found = answers.get(key);
  answers.delete(key);
  return found;
}

/** The snoozed messages, the first time. */
export function takeFirstSnoozed(): object[] | undefined {
  const found = snoozed;
  snoozed = undefined;
  return found;
}

/** Forgets answers that no request of the start was for: they are out of date later. */
export function dropFirstReads(): void {
  answers.clear();
  snoozed = undefined;
}
