/** Drives a function with one hostile text. */
export type Drive = (text: string) => unknown;

/** Place, input and bound that several functions have in common. */
export interface CostGroup {
  /** Folder or file below the root of the repository that exports the functions. */
  at: string;
  /** Text that reaches the function. */
  input: string;
  /** Largest input of its callers, or the limit of its work. */
  bound: string;
  /** Threads that run it, as docs/architecture.md names them. */
  thread: string;
  /** Largest input, in octets; by default a megabyte is driven. */
  most?: number;
}

/** A function that a stranger's or tenant's text reaches, with its stated cost. */
export interface CostRow extends CostGroup {
  name: string;
  /** Case of the function, such as the place of the text in its argument. */
  form: string;
  drive: Drive;
  /** Units that are worst when repeated, besides those that every function is driven with. */
  worst: readonly string[];
  /** Texts of about a size, in octets, that are worst and are no repetition. */
  made: readonly ((size: number) => string)[];
}

type RowOptions = Partial<CostGroup & Pick<CostRow, 'worst' | 'made'>>;

/** Describes a function in another way than its group. */
export function driven(drive: Drive, options: RowOptions): { drive: Drive; options: RowOptions } {
  return { drive, options };
}

/** Counts the items of an iterator and retains none: a large heap would add its own work to the function's. */
export function consume(items: Iterable<unknown>): number {
  let count = 0;
  for (const _ of items) count++;
  return count;
}

/** Lists the functions of a group by `name`, or by `name: form` when one function has several forms. */
export function costs(group: CostGroup, rows: Record<string, Drive | ReturnType<typeof driven>>): CostRow[] {
  return Object.entries(rows).map(([key, row]) => {
    const [name = '', form = ''] = key.split(': ');
    const { drive, options } = typeof row === 'function' ? { drive: row, options: {} } : row;
    return { worst: [], made: [], ...group, ...options, name, form, drive };
  });
}

/** Encodes a text as octets, as many as it has characters. */
export function octets(text: string): Buffer {
  if (/^[\0-\xff]*$/.test(text)) return Buffer.from(text, 'latin1');
  return Buffer.from(text).subarray(0, text.length);
}

/** Returns what a function throws instead of throwing it. */
export function caught(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}
