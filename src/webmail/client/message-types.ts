import type { messages as english } from './languages/en.ts';

/** Forms of a message by the category of its `count`; a language without an own form for a category has `other`. */
export interface PluralForms {
  readonly one: string;
  readonly many?: string;
  readonly other: string;
}

type English = typeof english;
export type MessageKey = keyof English;

/** A language: every message of English, with forms where English has them. */
export type MessageCatalog = { readonly [K in MessageKey]: English[K] extends string ? string : PluralForms };

type PlaceholdersIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | PlaceholdersIn<Rest> : never;
type TextOf<K extends MessageKey> = English[K] extends { readonly other: infer Text } ? Text : English[K];

/** Names of the values that a message needs. */
export type ValueNames<K extends MessageKey> =
  PlaceholdersIn<TextOf<K>> | (English[K] extends string ? never : 'count');

/** Keys of messages without values. */
export type PlainKey = { [K in MessageKey]: [ValueNames<K>] extends [never] ? K : never }[MessageKey];
