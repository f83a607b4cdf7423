/** The detail of a line, of which no field is sure to be there: older lines have fewer. */
export class Facts {
  readonly #detail: Readonly<Record<string, unknown>>;

  constructor(detail: Readonly<Record<string, unknown>>) {
    this.#detail = detail;
  }

  text(name: string): string {
    const value = this.#detail[name];
    return typeof value === 'string' ? value : '';
  }

  list(name: string): string[] {
    const value = this.#detail[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  number(name: string): number {
    const value = this.#detail[name];
    return typeof value === 'number' ? value : 0;
  }

  get names(): string[] {
    return Object.keys(this.#detail);
  }
}
