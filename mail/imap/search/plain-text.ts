import { decodeEntities } from '../../message/html-entities.ts';

/** Converts HTML to text for searching: removes tags, collapses spaces, decodes entities. Linear, without a tree. */
export function plainText(html: string): string {
  const pieces: string[] = [];
  let at = 0;
  for (let open = html.indexOf('<'); open !== -1; open = html.indexOf('<', at)) {
    const close = html.indexOf('>', open);
    if (close === -1) break;
    pieces.push(html.slice(at, open));
    at = close + 1;
  }
  pieces.push(html.slice(at));
  // Tags are removed without a space: `wo<b>rd</b>` is one word, and a line break usually precedes `<p>`.
  return decodeEntities(pieces.join('').replace(/\s\s+|[\t\r\n]/g, ' ')).replaceAll('\u00ad', '');
}
