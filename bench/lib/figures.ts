/** A number that a bench printed, and the words that say what it is. */
export interface Figure {
  /** First cell of a row of a table, or the line without its numbers. */
  row: string;
  /** Heading of its column, or the words before it. */
  what: string;
  value: number;
}

const NUMBER = /(?<![\w.])-?\d+(?:\.\d+)?/g;

/** Reads the figures of a bench: tables of Markdown, and lines of words and numbers. Rows of one name are numbered. */
export function figuresOf(output: string): Figure[] {
  const found: Figure[] = [];
  const rows = new Map<string, number>();
  let headings: readonly string[] = [];
  for (const line of output.split('\n')) {
    const cells = cellsOf(line);
    if (cells === undefined) headings = [];
    else if (headings.length === 0) headings = cells;
    if (cells === headings || /^[|\s:-]*$/.test(line)) continue;
    const figures = cells === undefined ? inLine(line) : inCells(cells, headings);
    const [first] = figures;
    if (first === undefined) continue;
    const nth = (rows.get(first.row) ?? 0) + 1;
    rows.set(first.row, nth);
    found.push(...figures.map((one) => (nth === 1 ? one : { ...one, row: `${one.row} (${nth})` })));
  }
  return found;
}

function cellsOf(line: string): readonly string[] | undefined {
  const inner = /^\|(.*)\|\s*$/.exec(line)?.[1];
  return inner?.split('|').map((cell) => cell.replaceAll('*', '').trim());
}

function inCells([row = '', ...cells]: readonly string[], [, ...headings]: readonly string[]): Figure[] {
  return cells.flatMap((cell, at) => {
    const numbers = numbersIn(cell);
    const heading = headings[at] ?? '';
    return numbers.map(({ value, before }) => ({
      row,
      what: numbers.length === 1 ? heading : `${heading} ${before}`.trim(),
      value,
    }));
  });
}

function inLine(line: string): Figure[] {
  const row = line.replaceAll(NUMBER, '#').replaceAll(/\s+/g, ' ').trim();
  return numbersIn(line).map(({ value, before }) => ({ row, what: before, value }));
}

function numbersIn(text: string): { value: number; before: string }[] {
  let from = 0;
  return [...text.matchAll(NUMBER)].map((match) => {
    const before = text
      .slice(from, match.index)
      .replaceAll(/^[\s,;:]+|[\s,;:]+$/g, '')
      .replaceAll(/\s+/g, ' ');
    from = match.index + match[0].length;
    return { value: Number(match[0]), before };
  });
}

/** One figure in all runs of both trees. */
export interface ComparedFigure extends Omit<Figure, 'value'> {
  first: number;
  second: number;
  /** Rounds in which the second tree had the larger figure. */
  larger: number;
  rounds: number;
}

/**
 * Medians of each figure that both trees have in every round, in the order of the output. Leaves out numbers that never
 * differ, such as sizes in names.
 */
export function compareRuns(first: readonly Figure[][], second: readonly Figure[][]): ComparedFigure[] {
  const [names = []] = first;
  return names.flatMap(({ row, what }, at) => {
    // A line may have two numbers after the same words.
    const nth = names.slice(0, at).filter((one) => one.row === row && one.what === what).length;
    const valueIn = (run: readonly Figure[]): number | undefined =>
      run.filter((one) => one.row === row && one.what === what)[nth]?.value;
    const pairs = first.flatMap((run, round) => {
      const [a, b] = [valueIn(run), valueIn(second[round] ?? [])];
      return a === undefined || b === undefined ? [] : [[a, b] as const];
    });
    const isConstant = pairs.every(([a, b]) => a === pairs[0]?.[0] && b === a);
    if (pairs.length < first.length || isConstant) return [];
    return {
      row,
      what,
      first: median(pairs.map(([a]) => a)),
      second: median(pairs.map(([, b]) => b)),
      larger: pairs.filter(([a, b]) => b > a).length,
      rounds: pairs.length,
    };
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
}
