import { bool, join, plainObject, text, wrong } from '../arguments.ts';

/** The texts of `bodyValues` by part id. RFC 8621 4.1.4. */
export function readBodyValues(value: unknown): Map<string, string> {
  const given = value === undefined || value === null ? {} : plainObject(value, 'bodyValues');
  return new Map(Object.entries(given).map(([partId, one]) => [partId, readValue(one, join('bodyValues', partId))]));
}

function readValue(value: unknown, path: string): string {
  const given = plainObject(value, path);
  for (const [name, one] of Object.entries(given)) {
    if (name === 'value') continue;
    const at = join(path, name);
    if (name !== 'isEncodingProblem' && name !== 'isTruncated') throw wrong(at, 'is not known here');
    if (bool(one, at)) throw wrong(at, 'must be false: a text that is not whole cannot be sent');
  }
  return text(given['value'], join(path, 'value'));
}
