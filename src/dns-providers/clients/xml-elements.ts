/** Elements that are read of one document. */
const MAX_ELEMENTS = 10_000;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Returns the contents of all elements of a name that are not nested in each other, as in the answers of AWS. */
export function elementsOf(xml: string, name: string): string[] {
  const [open, close] = [`<${name}>`, `</${name}>`];
  const found: string[] = [];
  for (let at = xml.indexOf(open); at !== -1 && found.length < MAX_ELEMENTS; at = xml.indexOf(open, at)) {
    const end = xml.indexOf(close, at);
    if (end === -1) break;
    found.push(xml.slice(at + open.length, end));
    at = end + close.length;
  }
  return found;
}

/** Text of the first element of a name; '' without one. */
export function textIn(xml: string, name: string): string {
  const at = xml.indexOf(`<${name}>`);
  const end = at === -1 ? -1 : xml.indexOf(`</${name}>`, at);
  const text = end === -1 ? '' : xml.slice(at + name.length + 2, end);
  return text.replace(/&(lt|gt|amp|quot|apos|#\d{1,7});/g, (whole, entity: string) => {
    const code = entity.startsWith('#') ? Number(entity.slice(1)) : 0;
    return ENTITIES[entity] ?? (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole);
  });
}

export function encodeXmlText(text: string): string {
  return text.replace(/[<>&"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
