import { headerForm, type HeaderValue } from '../../message/header-forms.ts';
import { rawText } from '../../message/header-text.ts';
import { type Field, readFields } from '../../message/header.ts';
import { LIMITS } from '../../message/limits.ts';
import type { HeaderProperty } from './header-property.ts';

/** EmailHeader of RFC 8621 4.1.3. */
export interface EmailHeader {
  /** With the capitals that it has in the message. */
  name: string;
  /** In Raw form. */
  value: string;
}

/** The fields of a header block, or of its piece that was read; see {@link LIMITS} for how many. */
export class HeaderFields {
  readonly #text: string;
  readonly #fields: readonly Field[];

  /** `text` is the block as latin1. */
  constructor(text: string) {
    this.#text = text;
    this.#fields = readFields(text, LIMITS.fields).filter(({ name }) => name !== '');
  }

  all(): EmailHeader[] {
    return this.#fields.map(({ start, name, value }) => ({
      name: rawText(this.#text.slice(start, start + name.length)),
      value: rawText(value),
    }));
  }

  /** The last of that name counts. RFC 8621 4.1.3. */
  read({ field, form, all }: HeaderProperty): HeaderValue | HeaderValue[] {
    const values = this.#fields.filter(({ name }) => name === field).map(({ value }) => value);
    if (all) return values.map((value) => headerForm(form, value));
    const last = values.at(-1);
    return last === undefined ? null : headerForm(form, last);
  }

  /** The first counts, as for everything else that a message is known by. */
  first(name: string): string | undefined {
    return this.#fields.find((field) => field.name === name)?.value;
  }
}
