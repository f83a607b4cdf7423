/** Exit codes: what they say is in the help. */
export const DONE = 0;
export const FAILED = 1;
export const WRONG_USE = 2;

export function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return DONE;
}

export function complain(sentence: string, code: number): number {
  process.stderr.write(`mailstead: ${sentence}\n`);
  return code;
}

/** The arguments do not fit the words. */
export function misused({ words, usage }: { words: string; usage: string }): number {
  return complain(`usage: mailstead ${words} ${usage}`.trimEnd(), WRONG_USE);
}
