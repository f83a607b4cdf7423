import { plainAddress } from '../../../mail/message/plain-address.ts';

/** Fields with addresses, which outsiders may have written. */
const ADDRESSES: ReadonlySet<string> = new Set(['from', 'here', 'source', 'to']);

/** Details of a journal line. All fields are optional: older lines have fewer. */
export class Facts {
  readonly #detail: Readonly<Record<string, unknown>>;

  constructor(detail: Readonly<Record<string, unknown>>) {
    this.#detail = detail;
  }

  text(name: string): string {
    const value = this.#detail[name];
    if (typeof value !== 'string') return '';
    return ADDRESSES.has(name) ? plainAddress(value) : value;
  }

  list(name: string): string[] {
    const value = this.#detail[name];
    const all = Array.isArray(value) ? value.map(String) : [];
    return ADDRESSES.has(name) ? all.map(plainAddress) : all;
  }

  number(name: string): number {
    const value = this.#detail[name];
    return typeof value === 'number' ? value : 0;
  }

  get names(): string[] {
    return Object.keys(this.#detail);
  }
}
