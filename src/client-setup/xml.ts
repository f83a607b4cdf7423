const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text with its markup escaped; characters that XML 1.0 does not allow are removed. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
    .replace(/[&<>"']/g, (one) => ESCAPES[one] ?? '');
}

/** An element with a text. */
export function element(name: string, text: string | number): string {
  return `<${name}>${escapeXml(String(text))}</${name}>`;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Finds the text of the first element with a name, in any namespace; undefined if there is none. Linear: no markup within it
 * is followed, and no entity but the five of XML is resolved, so that a document cannot grow.
 */
export function elementText(xml: string, name: string): string | undefined {
  for (let at = xml.indexOf(name); at >= 0; at = xml.indexOf(name, at + 1)) {
    const before = xml.slice(Math.max(0, at - 40), at);
    const opens = before.endsWith('<') || /<[A-Za-z_][\w.-]{0,30}:$/.test(before);
    if (!opens || !/[\s>]/.test(xml.charAt(at + name.length))) continue;
    const end = xml.indexOf('>', at);
    // Without one, or the next, no later element can have it either.
    const close = end < 0 ? -1 : xml.indexOf('<', end);
    if (close < 0) return undefined;
    return xml
      .slice(end + 1, close)
      .replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => ENTITIES[entity] ?? '')
      .trim();
  }
  return undefined;
}
