import type { MemoryReservation } from '../../limits/memory-budget.ts';
import { headerForm, type HeaderValue } from '../../message/header-forms.ts';
import { rawText } from '../../message/header-text.ts';
import { type Field, readFields } from '../../message/header.ts';
import { LIMITS } from '../../message/limits.ts';
import { MethodError } from '../core/errors.ts';
import type { HeaderProperty } from './email-selection.ts';

/** Maximum octets of message data that one call reads: structures, header fields and body values. */
export const MAX_OCTETS_READ = 32 * 1024 * 1024;

/** Cost of each read in addition to its octets. */
const COST_PER_READ = 512;

/** Remaining read budget of one call; charged before each read. `memory`: of the request, which holds what was read. */
export class ReadBudget {
  readonly #memory: MemoryReservation | undefined;
  #left: number;

  constructor(most = MAX_OCTETS_READ, memory?: MemoryReservation) {
    this.#left = most;
    this.#memory = memory;
  }

  /** Throws `requestTooLarge`, or `serverUnavailable` if the memory for answers is used up. */
  take(octets: number): void {
    this.#left -= COST_PER_READ;
    this.takeObjects(octets);
  }

  /** Charges objects that are made of what was read. Throws as {@link take} does. */
  takeObjects(octets: number): void {
    this.#left -= octets;
    if (this.#left < 0) throw readTooLarge();
    if (this.#memory?.tryGrow(octets) === false) throw memoryUsedUp();
  }
}

export function memoryUsedUp(): MethodError {
  return new MethodError(
    'serverUnavailable',
    'The memory for unread responses is used up. Read the responses under way, then try again.',
  );
}

export function readTooLarge(): MethodError {
  return new MethodError(
    'requestTooLarge',
    'The call reads too much data. Request fewer emails or properties, or set "maxBodyValueBytes".',
  );
}

/** EmailHeader of RFC 8621 4.1.3. */
interface EmailHeader {
  /** In the case used in the message. */
  name: string;
  /** In Raw form. */
  value: string;
}

/** Fields of a header block or of its first part; {@link LIMITS} limits their number. */
export class HeaderFields {
  readonly #text: string;
  readonly #budget: ReadBudget;
  readonly #fields: readonly Field[];
  readonly #byName: ReadonlyMap<string, readonly Field[]>;

  /** `text` is the block as latin1. Every returned value costs budget: a client can request a field many times. */
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

  /** Reads the last field of a name, or all. RFC 8621 4.1.3. */
  read({ field, form, all }: HeaderProperty): HeaderValue | HeaderValue[] {
    const fields = this.#byName.get(field) ?? [];
    const values = all ? fields : fields.slice(-1);
    const forms = values.map(({ value }) => {
      this.#budget.take(value.length);
      return headerForm(form, value);
    });
    return all ? forms : (forms[0] ?? null);
  }

  /** The first field of a name, as in ENVELOPE. */
  first(name: string): string | undefined {
    return this.#byName.get(name)?.[0]?.value;
  }
}
