import type { PartNode } from './part-tree.ts';
import { isSevenBit, guessLatin1 } from './decode.ts';
import type { Parameterized } from './parameters.ts';
import { imapString, imapNstring } from './wire-string.ts';

/**
 * Formats BODYSTRUCTURE with extension data for all parts, given in pre-order. RFC 3501 7.4.2. Children are formatted
 * before their parents, which avoids recursion.
 */
export function formatBodyStructure(nodes: readonly PartNode[]): string {
  /** Structures of the children so far. */
  const inside = new Map<PartNode | undefined, string>();
  for (const node of nodes.toReversed()) {
    const text = formatPart(node, inside.get(node) ?? '');
    inside.delete(node);
    inside.set(node.parent, text + (inside.get(node.parent) ?? ''));
  }
  return inside.get(undefined) ?? '';
}

function formatPart(node: PartNode, inside: string): string {
  const { type, subtype, params, id, description, encoding, md5, disposition, language, location } = node.header;
  const tail = `${dispositionStructure(disposition)} ${languageStructure(language)} ${imapNstring(location)}`;
  const name = `${imapString(subtype)} ${paramStructure(type === 'text' ? withCharset(params) : params)}`;
  if (type === 'multipart') return `(${inside} ${name} ${tail})`;
  const basic = `${imapString(type)} ${name} ${imapNstring(id)} ${imapNstring(description)} ${imapString(encoding)}`;
  const root = node.children[0];
  let typed = type === 'text' ? ` ${node.lines}` : '';
  if (root !== undefined) typed = ` ${root.envelope} ${inside} ${node.lines}`;
  return `(${basic} ${node.bodyEnd - node.bodyStart}${typed} ${imapNstring(md5)} ${tail})`;
}

/** Parameters of a text part with the default charset, which clients expect to be written. RFC 2046 4.1.2. */
function withCharset(params: Parameterized['params']): Parameterized['params'] {
  const isNamed = params.some(([name]) => /^charset(?:\*|$)/i.test(name));
  return isNamed ? params : [...params, ['charset', 'us-ascii']];
}

/** Formats an empty list as NIL and a missing value as '': `()` and `("boundary" NIL)` break clients. */
function paramStructure(params: Parameterized['params']): string {
  if (params.length === 0) return 'NIL';
  return `(${params.map(formatParam).join(' ')})`;
}

/** Keeps RFC 2231 names as written, which clients decode; encodes raw 8-bit values by RFC 2231. */
function formatParam([name, value]: [name: string, value: string]): string {
  if (isSevenBit(value) || name.includes('*')) return `${imapString(name)} ${imapString(value)}`;
  const encoded = encodeURIComponent(guessLatin1(value).toWellFormed()).replace(/['()*]/g, percent);
  return `${imapString(`${name}*`)} ${imapString(`utf-8''${encoded}`)}`;
}

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}

function dispositionStructure(disposition: Parameterized | undefined): string {
  if (disposition === undefined) return 'NIL';
  return `(${imapString(disposition.value)} ${paramStructure(disposition.params)})`;
}

/** Content-Language, RFC 3282: a comma-separated list; a single tag is written as a string. */
function languageStructure(language: string | undefined): string {
  const tags = language?.slice(0, 1000).match(/[^\s,]+/g) ?? [];
  if (tags.length === 0) return 'NIL';
  return tags.length === 1 ? imapString(tags[0] ?? '') : `(${tags.map(imapString).join(' ')})`;
}
