/** An element of a document. */
export interface XmlNode {
  name: string;
  attributes: Record<string, string>;
  children: XmlNode[];
  text: string;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const plain = (text: string): string => text.replace(/&(\w+);/g, (_, name: string) => ENTITIES[name] ?? '');

/** Reads a document strictly: throws for anything that is not well-formed. */
export function readXml(document: string): XmlNode {
  const root: XmlNode = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  const body = document.replace(/^<\?xml [^?]*\?>\s*/, '').replace(/^<!DOCTYPE [^>]*>\s*/, '');
  const token = /<(\/?)([A-Za-z][\w.-]*)((?:\s+[\w:]+="[^"<]*")*)\s*(\/?)>|([^<&]|&(?:amp|lt|gt|quot|apos);)+/gy;
  while (token.lastIndex < body.length) {
    const match = token.exec(body);
    if (match === null) throw new Error(`not well-formed: ${document}`);
    const [text, closing, name, attributes = '', empty] = match;
    const parent = open.at(-1);
    if (parent === undefined) throw new Error('more ends than beginnings');
    if (name === undefined) parent.text += plain(text).trim();
    else if (closing === '/') {
      if (open.pop()?.name !== name) throw new Error(`</${name}> ends another element`);
    } else {
      const pairs = [...attributes.matchAll(/([\w:]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
        key,
        plain(value),
      ]);
      const node: XmlNode = {
        name,
        attributes: Object.fromEntries(pairs) as Record<string, string>,
        children: [],
        text: '',
      };
      parent.children.push(node);
      if (empty !== '/') open.push(node);
    }
  }
  const [first, ...others] = root.children;
  if (first === undefined || others.length > 0 || open.length !== 1) throw new Error('not one element');
  return first;
}
