/** Markup that is safe to send: made by {@link html} only, so everything in it was escaped or is Html itself. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

/** What may stand in a template: text is escaped; nothing, false and null leave nothing; lists follow one another. */
export type Part = Html | string | number | undefined | null | false | readonly Part[];

/** A template of markup. Every value is escaped for text and for double-quoted attributes alike. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? '';
  for (const [i, part] of parts.entries()) text += rendered(part) + (strings[i + 1] ?? '');
  return new Html(text);
}

function rendered(part: Part): string {
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
