import { z } from 'zod';
import { oneLine } from '../../mail/message/compose-text.ts';

/** Values for the `{{names}}` of a template. */
export const Variables = z
  .record(z.string().regex(/^[A-Za-z][\w.-]{0,63}$/), z.union([z.string().max(100_000), z.number(), z.boolean()]))
  .refine((variables) => Object.keys(variables).length <= 200, 'has more than 200 names');
export type Variables = z.output<typeof Variables>;

/** Texts of a template version. */
export type TemplateTexts = {
  subject: string;
  text: string | null;
  html: string | null;
};

const VARIABLE = /\{\{\s*([A-Za-z][\w.-]{0,63})\s*\}\}/g;

/** Lists the variables used in the texts, without duplicates. */
export function variablesOf({ subject, text, html }: TemplateTexts): string[] {
  const all = [subject, text ?? '', html ?? ''].flatMap((one) => [...one.matchAll(VARIABLE)]);
  return [...new Set(all.map((match) => match[1] ?? ''))];
}

/** True if braces remain that are no valid variable; recipients would see them. */
export function hasStrayBraces(text: string): boolean {
  return /\{\{|\}\}/.test(text.replace(VARIABLE, ''));
}

/** Fills in the variables, or lists the missing ones. Values are escaped and never expanded again. */
export function fillTemplate(
  texts: TemplateTexts,
  variables: Variables,
):
  | { kind: 'filled'; subject: string; text: string | undefined; html: string | undefined }
  | { kind: 'missing'; names: string[] } {
  const names = variablesOf(texts).filter((name) => !Object.hasOwn(variables, name));
  if (names.length > 0) return { kind: 'missing', names };
  const put = (text: string | null, spell: (value: string) => string): string | undefined =>
    text?.replace(VARIABLE, (_, name: string) => spell(String(variables[name])));
  return {
    kind: 'filled',
    // A line end in a value would begin another header field.
    subject: oneLine(put(texts.subject, oneLine) ?? ''),
    text: put(texts.text, (value) => value),
    html: put(texts.html, escapeHtml),
  };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}
