import { digestsOf } from '../mcp/catalogue-pin.ts';
import { toolOf } from '../mcp/listing.ts';
import { BOX_OPERATIONS } from '../operations/box/index.ts';
import { CATALOGUE, FOR_PEOPLE } from '../operations/catalogue.ts';
import { describe, inputSchema } from '../operations/description.ts';
import type { Operation } from '../operations/operation.ts';
import { argumentsOf, documentation, needs } from './tools-page.ts';
import { table } from './table.ts';

const ALL = [...CATALOGUE, ...FOR_PEOPLE, ...BOX_OPERATIONS];

/** Operations whose name or text has all the words; everything about one when it is named. */
export function listTools(words: readonly string[], json: boolean): string {
  const [name] = words;
  const named = words.length === 1 ? ALL.find((one) => one.name === name) : undefined;
  if (named !== undefined) return json ? JSON.stringify(describe(named), null, 2) : whole(named);
  const found = ALL.filter((one) => words.every((word) => textOf(one).includes(word.toLowerCase())));
  if (json) return JSON.stringify({ tools: found.map(describe) }, null, 2);
  if (found.length === 0) return 'No operation has these words.';
  return table(
    ['operation', 'needs', 'what'],
    found.map((one) => [one.name, needs(one), one.title]),
  );
}

/** src/mcp/catalogue.json: by it a start knows which tools there are. */
export function toolDigests(): string {
  return JSON.stringify(digestsOf(CATALOGUE, toolOf), null, 2);
}

/** docs/tools.md, from the operations themselves. */
export function toolsPage(): string {
  return documentation(CATALOGUE, FOR_PEOPLE, BOX_OPERATIONS);
}

function whole(one: Operation): string {
  const rows = argumentsOf(inputSchema(one)).map(({ name, type, required }) => [
    `  ${name}`,
    required ? type : `${type}, optional`,
  ]);
  return [
    `${one.name}: ${one.title}`,
    '',
    one.description,
    `Needs: ${needs(one)}.`,
    '',
    rows.length === 0 ? 'It takes no arguments.' : table(['  argument', 'value'], rows),
  ].join('\n');
}

function textOf({ name, title, toolset, description }: Operation): string {
  return `${name} ${title} ${toolset} ${description}`.toLowerCase();
}
