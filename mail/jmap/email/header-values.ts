import { headerForm, type HeaderValue } from '../../message/header-forms.ts';
import { rawText } from '../../message/header-text.ts';
import { type Field, readFields } from '../../message/header.ts';
import { LIMITS } from '../../message/limits.ts';
import type { ReadBudget } from './read-budget.ts';
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
  readonly #budget: ReadBudget;
  readonly #fields: readonly Field[];
  readonly #byName: ReadonlyMap<string, readonly Field[]>;

  /** `text` is the block as latin1. Whatever is answered from it is taken from the budget: a client may ask twice. */
  constructor(text: string, budget: ReadBudget) {
    this.#text = text;
    this.#budget = budget;
    this.#fields = readFields(text, LIMITS.fields).filter(({ name }) => name !== '');
    this.#byName = Map.groupBy(this.#fields, ({ name }) => name);
  }

  all(): EmailHeader[] {
    this.#budget.take(this.#text.length);
    return this.#fields.map(({ start, name, value }) => ({
      name: rawText(this.#text.slice(start, start + name.length)),
      value: rawText(value),
    }));
  }

  /** The last of that name counts. RFC 8621 4.1.3. */
  read({ field, form, all }: HeaderProperty): HeaderValue | HeaderValue[] {
    const fields = this.#byName.get(field) ?? [];
    const values = all ? fields : fields.slice(-1);
    const forms = values.map(({ value }) => {
      this.#budget.take(value.length);
      return headerForm(form, value);
    });
    return all ? forms : (forms[0] ?? null);
  }

  /** The first counts, as for everything else that a message is known by. */
  first(name: string): string | undefined {
    return this.#byName.get(name)?.[0]?.value;
  }
}
