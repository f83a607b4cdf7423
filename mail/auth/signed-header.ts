import type { Field } from '../message/header.ts';
import { canonicalField } from './dkim-sign.ts';

/** Message header that yields the octets covered by a signature. */
export class SignedHeader {
  readonly fields: readonly Field[];
  readonly #text: string;
  readonly #byName = new Map<string, Field[]>();

  /** `text` was read as latin1; `fields` were parsed from it. */
  constructor(text: string, fields: readonly Field[]) {
    this.#text = text;
    this.fields = fields;
    for (const field of fields) {
      const same = this.#byName.get(field.name);
      if (same === undefined) this.#byName.set(field.name, [field]);
      else same.push(field);
    }
  }

  /**
   * Returns the signed octets: the fields of `names`, the last of each name first, then the signature field with the
   * value `unsigned`. RFC 6376 3.7, 5.4.2.
   */
  data(names: readonly string[], own: Field, unsigned: string, relaxed: boolean): Buffer {
    const taken = new Map<string, number>();
    const lines: string[] = [];
    for (const name of names) {
      const same = this.#byName.get(name) ?? [];
      const count = taken.get(name) ?? 0;
      const field = same[same.length - 1 - count];
      taken.set(name, count + 1);
      // RFC 6376 3.5: a missing field counts as empty, so that adding it later breaks the signature.
      if (field !== undefined) lines.push(relaxed ? canonicalField(name, field.value) : this.#plain(field));
    }
    lines.push(relaxed ? canonicalField(own.name, unsigned) : `${this.#nameOf(own)}:${unsigned}`);
    return Buffer.from(lines.join('\r\n'), 'latin1');
  }

  #plain(field: Field): string {
    return `${this.#nameOf(field)}:${field.value}`;
  }

  /** Field name as written, with blanks before the colon. */
  #nameOf({ start }: Field): string {
    return this.#text.slice(start, this.#text.indexOf(':', start));
  }
}
