import type { ComponentChild } from 'preact';
import type { MessageKey, ValueNames } from './message-types.ts';
import { pluralForm } from './translate.ts';

/** A message with elements in the place of values. */
export function rich<K extends MessageKey>(
  key: K,
  values: Readonly<Record<ValueNames<K>, ComponentChild>>,
): ComponentChild[] {
  const given = values as Readonly<Record<string, ComponentChild>>;
  const pieces = pluralForm(key, given['count']).split(/\{(\w+)\}/);
  return pieces.map((piece, at) => (at % 2 === 0 ? piece : given[piece]));
}
