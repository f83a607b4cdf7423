import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const EXPORTED = /^export (?:async )?function\*? (\w+)(?:<[^(]*>)?\(/gm;
/** Types of a parameter that holds a text of any length. */
const TEXT = /\b(?:string|Buffer|Uint8Array|Field)\b/;

/** Lists the exported functions of a folder that take a text. */
export function textFunctions(folder: string): string[] {
  const files = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.ts'));
  return files.flatMap((name) => takingText(readFileSync(join(ROOT, folder, name), 'utf8')));
}

function takingText(source: string): string[] {
  return [...source.matchAll(EXPORTED)].flatMap((found) => {
    const [whole, name = ''] = found;
    return TEXT.test(parametersAt(source, found.index + whole.length)) ? [name] : [];
  });
}

/** Returns the source up to the closing bracket that is not nested. */
function parametersAt(source: string, start: number): string {
  let depth = 1;
  let at = start;
  for (; depth > 0 && at < source.length; at++) {
    const sign = source[at] ?? '';
    if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
  }
  return source.slice(start, at);
}
