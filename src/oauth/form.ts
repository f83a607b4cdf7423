/** The fields of a form that a program sent. */
export class Form {
  readonly #fields: URLSearchParams;

  constructor(body: string) {
    this.#fields = new URLSearchParams(body);
  }

  /** Whether a field is there twice, of which two readers could take different ones. RFC 6749 3.2. */
  get isAmbiguous(): boolean {
    const names = [...this.#fields.keys()];
    return new Set(names).size !== names.length;
  }

  /** A field that has a value. */
  one(name: string): string | undefined {
    const all = this.#fields.getAll(name);
    return all.length === 1 && all[0] !== '' ? all[0] : undefined;
  }
}
