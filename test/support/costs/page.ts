import { costName, COSTS } from './index.ts';
import type { CostRow } from './row.ts';

const HEAD = `# Cost of a stranger's text

Each function that reads a stranger's or tenant's text takes time and memory in proportion to its length, or has a bound. \`npm run docs\` writes this page from \`test/support/costs\`; \`npm run test:matrix\` drives each function with its worst inputs at two sizes, 64 KiB and 1 MiB where the bound allows it, and asserts that 16 times the input takes at most 20 times the CPU time; where the input leaves the caches of the processor, that the last 4 times take at most 8 times. \`npm run lint:expressions\` does the same for regular expressions.

Memory that clients hold has one budget: see [Operating](operating.md#memory).
`;

/** Writes docs/cost.md from the list. */
export function costPage(rows: readonly CostRow[] = COSTS): string {
  const folders = [...new Set(rows.map(({ at }) => at))].toSorted();
  return [
    HEAD,
    ...folders.map((at) =>
      section(
        at,
        rows.filter((row) => row.at === at),
      ),
    ),
  ].join('\n');
}

function section(at: string, rows: readonly CostRow[]): string {
  const lines = rows.toSorted((one, other) => (costName(one) < costName(other) ? -1 : 1)).map(line);
  return [
    `## ${at}`,
    '',
    '| function | input | bound | thread | driven to |',
    '|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

function line({ name, form, input, bound, thread, most }: CostRow): string {
  const driven = most === undefined ? '1 MiB' : `${Math.round(most / 1024)} KiB`;
  const shown = `\`${name}\`${form === '' ? '' : `, ${form}`}`;
  return `| ${[shown, input, bound, thread, driven].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
