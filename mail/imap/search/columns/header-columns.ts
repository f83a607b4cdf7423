import { fieldTexts } from '../message-text.ts';
import { COLUMN_FIELDS, type ColumnField } from './column-names.ts';
import { PositionSet } from './position-set.ts';
import { FoldedColumn } from './folded-column.ts';

/** Joins the values of repeated fields. No searched text contains it. */
const VALUES = '\0';

/** Texts of the fields that clients search, for the messages of one mailbox in the order of their positions. */
export class HeaderColumns {
  readonly #columns = new Map<ColumnField, FoldedColumn>(COLUMN_FIELDS.map((field) => [field, new FoldedColumn()]));
  /** Positions without that field. */
  readonly #absent = new Map<ColumnField, number[]>(COLUMN_FIELDS.map((field) => [field, []]));
  /** Positions whose octets could not be read. */
  readonly #unread: number[] = [];
  length = 0;

  /** Adds the next position. Undefined: its header could not be read, so that each search tries again. */
  append(header: string | undefined): void {
    if (header === undefined) this.#unread.push(this.length);
    const texts = fieldTexts(header ?? '', COLUMN_FIELDS);
    for (const [field, column] of this.#columns) {
      const values = texts.get(field) ?? [];
      if (values.length === 0) this.#absent.get(field)?.push(this.length);
      column.append(values.join(VALUES));
    }
    this.length++;
  }

  /** Estimated memory, octets. */
  get octets(): number {
    return [...this.#columns.values()].reduce((sum, { octets }) => sum + octets, 0);
  }

  /** Positions of `scope` whose field contains the folded text; ''  for those that have the field. */
  find(field: ColumnField, text: string, scope: PositionSet): PositionSet {
    const found = new PositionSet(scope.length);
    if (text === '') return scope.minus(setOf(this.#absent.get(field) ?? [], scope.length));
    this.#columns.get(field)?.find(text, scope, found);
    return found.and(scope);
  }

  /** Positions that only their octets decide. */
  unread(length: number): PositionSet {
    return setOf(this.#unread, length);
  }
}

function setOf(positions: readonly number[], length: number): PositionSet {
  const set = new PositionSet(length);
  for (const position of positions) set.add(position);
  return set;
}
