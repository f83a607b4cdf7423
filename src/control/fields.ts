/** The input is not what the operation takes; the message says which field and why. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
}

/** Reads the fields of an operation's input one by one; what was not asked for is an error. */
export class Fields {
  readonly #values: Map<string, unknown>;

  constructor(input: unknown) {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      throw new BadInput('The input must be an object.');
    }
    this.#values = new Map(Object.entries(input));
  }

  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw new BadInput(`${name} is missing.`);
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || value === '' || value.length > 1_000) {
      throw new BadInput(`${name} must be a text of 1 to 1,000 characters.`);
    }
    return value;
  }

  /** Ids, or all there are. */
  idsOrAll(name: string): readonly number[] | 'all' {
    const value = this.#take(name);
    if (value === 'all') return value;
    const isIds = Array.isArray(value) && value.length > 0 && value.length <= 10_000 && value.every(isId);
    if (!isIds) throw new BadInput(`${name} must be a list of numbers, or "all".`);
    return value as number[];
  }

  /** A whole number between two others, or the default. */
  number(name: string, min: number, max: number, otherwise: number): number {
    const value = this.#take(name);
    if (value === undefined) return otherwise;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
      throw new BadInput(`${name} must be a number from ${min} to ${max}.`);
    }
    return value;
  }

  /** Call it last: a misspelled field must not be taken for one that was left out. */
  end(): void {
    const [name] = this.#values.keys();
    if (name !== undefined) throw new BadInput(`There is no field ${JSON.stringify(name.slice(0, 50))} here.`);
  }

  #take(name: string): unknown {
    const value = this.#values.get(name);
    this.#values.delete(name);
    return value;
  }
}

function isId(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
