const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** A number in base64 VLQ. ECMA-426, 6. */
function vlq(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = '';
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += DIGITS[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}

/** A line of a linked script: the source and its line, both from 0; undefined for lines that the linker wrote. */
export type LineOrigin = readonly [source: number, line: number] | undefined;

/** A source map that maps whole lines. `sources`: URLs of the sources, relative to that of the map. ECMA-426. */
export function sourceMap(sources: readonly string[], lines: readonly LineOrigin[]): string {
  let before: readonly [number, number] = [0, 0];
  const mappings = lines.map((origin) => {
    if (origin === undefined) return '';
    const segment = [0, origin[0] - before[0], origin[1] - before[1], 0].map(vlq).join('');
    before = origin;
    return segment;
  });
  return JSON.stringify({ version: 3, sources, names: [], mappings: mappings.join(';') });
}
