/** Fields of a submitted form. */
export class Fields {
  readonly #body: Readonly<Record<string, unknown>>;

  constructor(body: unknown) {
    this.#body = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  }

  /** The field's text; '' if missing or repeated. */
  text(name: string): string {
    const value = this.#body[name];
    return typeof value === 'string' ? value : '';
  }

  /** The field's trimmed text; undefined if empty. */
  line(name: string): string | undefined {
    const text = this.text(name).trim();
    return text === '' ? undefined : text;
  }

  /** All values of a name, such as checked boxes. */
  list(name: string): string[] {
    const value = this.#body[name];
    const all = Array.isArray(value) ? (value as unknown[]) : [value];
    return all.filter((one): one is string => typeof one === 'string' && one !== '');
  }
}
