import { plainAddress } from '../../../mail/message/plain-address.ts';

/** Fields that hold addresses, which others may have written. */
const ADDRESSES: ReadonlySet<string> = new Set(['from', 'here', 'source', 'to']);

/** The detail of a line, of which no field is sure to be there: older lines have fewer. */
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
