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

/** Characters of a filled text, as of a body that is sent without a template. */
export const MAX_FILLED_CHARS = 5_000_000;

/** Fills in the variables, or lists the missing ones. Values are escaped and never expanded again. */
export function fillTemplate(
  texts: TemplateTexts,
  variables: Variables,
):
  | { kind: 'filled'; subject: string; text: string | undefined; html: string | undefined }
  | { kind: 'missing'; names: string[] }
  | { kind: 'too-long' } {
  const used = variablesOf(texts);
  const names = used.filter((name) => !Object.hasOwn(variables, name));
  if (names.length > 0) return { kind: 'missing', names };
  // A line end in a value would begin another header field.
  const lines = spelled(used, variables, oneLine);
  const plain = spelled(used, variables, (value) => value);
  const escaped = spelled(used, variables, escapeHtml);
  const { subject, text, html } = texts;
  const size = filledSize(subject, lines) + filledSize(text ?? '', plain) + filledSize(html ?? '', escaped);
  // 500,000 characters of {{a}} with a value of 100,000 would be 10 GB.
  if (size > MAX_FILLED_CHARS) return { kind: 'too-long' };
  return {
    kind: 'filled',
    subject: oneLine(filled(subject, lines)),
    text: text === null ? undefined : filled(text, plain),
    html: html === null ? undefined : filled(html, escaped),
  };
}

function spelled(
  names: readonly string[],
  variables: Variables,
  spell: (value: string) => string,
): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name, spell(String(variables[name]))]));
}

function filledSize(text: string, values: ReadonlyMap<string, string>): number {
  let size = text.length;
  for (const [whole, name = ''] of text.matchAll(VARIABLE)) size += (values.get(name)?.length ?? 0) - whole.length;
  return size;
}

function filled(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(VARIABLE, (_, name: string) => values.get(name) ?? '');
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
