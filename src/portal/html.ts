/** Safe markup, created by {@link html} only: every value in it was escaped or is Html itself. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

/** A value in a template. Text is escaped; undefined, null and false render nothing; lists are concatenated. */
export type HtmlPart = Html | string | number | undefined | null | false | readonly HtmlPart[];

/** Template tag. Escapes every value for text and double-quoted attributes (XSS). */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  let text = strings[0] ?? '';
  for (const [i, part] of parts.entries()) text += rendered(part) + (strings[i + 1] ?? '');
  return new Html(text);
}

function rendered(part: HtmlPart): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  return Array.isArray(part) ? part.map(rendered).join('') : '';
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

function escaped(text: string): string {
  return text
    .replace(/[&<>"'`]/g, (c) => ENTITIES[c] ?? '')
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, '\u{fffd}')
    .toWellFormed();
}
