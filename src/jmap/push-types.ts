import { STATE_TYPES, type StateType } from '../../mail/store/account/type-state.ts';

/** Parses `*` (null, all types) or type names; ignores unknown names. RFC 8620 7.3. */
export function typesOf(text: string): ReadonlySet<StateType> | null {
  return text === '*' ? null : namedTypes(text.split(','));
}

export function namedTypes(names: readonly string[]): ReadonlySet<StateType> {
  return new Set(STATE_TYPES.filter((type) => names.includes(type)));
}
