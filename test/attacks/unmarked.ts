/**
 * Where in an answer `mark` stands outside of what is marked as a stranger's: below the key `untrusted`, and behind the
 * nonce in the text of an object that says `untrusted: true`. Names of keys count too. Empty: nowhere.
 */
export function unmarked(answer: unknown, mark: string, path = '$'): string[] {
  if (typeof answer === 'string') return has(answer, mark) ? [`${path}: ${answer.slice(0, 200)}`] : [];
  if (typeof answer !== 'object' || answer === null) return [];
  if ('untrusted' in answer && answer.untrusted === true) return fenced(answer, mark, path);
  return Object.entries(answer).flatMap(([key, value]) => [
    ...(has(key, mark) ? [`${path}: the key ${key}`] : []),
    ...(key === 'untrusted' ? [] : unmarked(value, mark, `${path}.${key}`)),
  ]);
}

function fenced(answer: object, mark: string, path: string): string[] {
  const { text, nonce, ...facts } = answer as { text?: unknown; nonce?: unknown };
  const lines = typeof text === 'string' ? text.split('\n') : [];
  const open = lines.filter((line) => typeof nonce !== 'string' || !line.startsWith(`${nonce}| `));
  return [
    ...open.map((line) => `${path}.text without its fence: ${line}`),
    ...unmarked({ ...facts, untrusted: undefined }, mark, path),
  ];
}

function has(text: string, mark: string): boolean {
  return text.toLowerCase().includes(mark);
}
