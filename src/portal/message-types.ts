import type { portalMessages as english } from './languages/en.ts';

/** Forms of a message of the portal by the category of its `count`. */
export interface PortalPlural {
  readonly one: string;
  readonly many?: string;
  readonly other: string;
}

type PortalEnglish = typeof english;
export type PortalKey = keyof PortalEnglish;

/** A language: every message of English, with forms where English has them. */
export type PortalCatalog = {
  readonly [K in PortalKey]: PortalEnglish[K] extends string ? string : PortalPlural;
};

type ValuesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | ValuesIn<Rest> : never;
type PortalText<K extends PortalKey> = PortalEnglish[K] extends { readonly other: infer Text }
  ? Text
  : PortalEnglish[K];

/** Names of the values that a message needs. */
export type PortalValueNames<K extends PortalKey> =
  ValuesIn<PortalText<K>> | (PortalEnglish[K] extends string ? never : 'count');

/** Names of pages; each has a message. */
export type PageName = { [K in PortalKey]: K extends `page.${infer Name}` ? Name : never }[PortalKey];

/** Keys of messages without values. */
export type PlainPortalKey = { [K in PortalKey]: [PortalValueNames<K>] extends [never] ? K : never }[PortalKey];
