/** Values of the first and the second of two checkouts. */
export type Pair<T> = readonly [T, T];

/** Prints figures of two checkouts that were measured in turn. */
export class PairedFigures {
  static readonly HEADING = '| | A | B | B / A | quartiles | B larger |\n|---|---|---|---|---|---|';
  readonly #rounds: number;

  constructor(rounds: number) {
    this.#rounds = rounds;
  }

  /** A row of a table in Markdown: medians of both, and of their ratio in each round. */
  line(name: string, pairs: readonly Pair<number>[]): string {
    const ratios = pairs.map(([a, b]) => b / a);
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(3));
    const [a, b] = [0, 1].map((at) =>
      quantile(
        pairs.map((pair) => pair[at] ?? 0),
        0.5,
      ).toFixed(2),
    );
    const larger = ratios.filter((ratio) => ratio > 1).length;
    return `| ${[name, a, b, middle, `${low} to ${high}`, `${larger} of ${this.#rounds}`].join(' | ')} |`;
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}
