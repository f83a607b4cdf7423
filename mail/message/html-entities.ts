import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';

/** Decodes the character references of an HTML text as browsers do; no-break spaces become spaces. HTML 13.5. */
export function decodeEntities(text: string): string {
  return text.includes('&') ? decodeHTML(text).replaceAll('\u00a0', ' ') : text;
}

/** Decodes those of an attribute's value: `?a=1&copy=2` stays as it is. HTML 13.2.5.73. */
export function decodeAttribute(value: string): string {
  return value.includes('&') ? decodeHTMLAttribute(value) : value;
}
