import type { PartNode } from './part-tree.ts';
import type { PartHeader } from './part-header.ts';
import { isSevenBit, guessLatin1 } from './decode.ts';
import type { Parameterized } from './parameters.ts';
import { imapString, nstring } from './wire-string.ts';

/**
 * Writes BODYSTRUCTURE with extension data for all parts, given in pre-order. RFC 3501 7.4.2. Children are written
 * before their parents, so that no depth of nesting reaches the stack.
 */
export function formatBodyStructure(nodes: readonly PartNode[]): string {
  const written = new Map<PartNode, string>();
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i];
    if (node === undefined) continue;
    const inside = node.children.map((child) => written.get(child) ?? '').join('');
    for (const child of node.children) written.delete(child);
    written.set(node, formatPart(node, inside));
  }
  const root = nodes[0];
  return root === undefined ? '' : (written.get(root) ?? '');
}

function formatPart(node: PartNode, inside: string): string {
  const { header } = node;
  const tail = `${dispositionStructure(header.disposition)} ${languageStructure(header.language)} ${nstring(header.location)}`;
  if (header.type === 'multipart') {
    return `(${inside} ${imapString(header.subtype)} ${paramStructure(header.params)} ${tail})`;
  }
  const size = node.bodyEnd - node.bodyStart;
  return `(${basicFields(header)} ${size}${typedFields(node, inside)} ${nstring(header.md5)} ${tail})`;
}

function basicFields(header: PartHeader): string {
  const type = `${imapString(header.type)} ${imapString(header.subtype)} ${paramStructure(header.params)}`;
  return `${type} ${nstring(header.id)} ${nstring(header.description)} ${imapString(header.encoding)}`;
}

/** What stands between size and extension data: nothing, lines, or envelope, structure and lines. */
function typedFields(node: PartNode, inside: string): string {
  const root = node.children[0];
  if (root !== undefined) return ` ${root.envelope} ${inside} ${node.lines}`;
  return node.header.type === 'text' ? ` ${node.lines}` : '';
}

/** An empty list is NIL, a missing value the empty string: `()` and `("boundary" NIL)` break clients. */
function paramStructure(params: Parameterized['params']): string {
  if (params.length === 0) return 'NIL';
  return `(${params.map(([name, value]) => formatParam(name, value)).join(' ')})`;
}

/** RFC 2231 names go out as written, clients decode them; raw 8-bit values are written in RFC 2231. */
function formatParam(name: string, value: string): string {
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

/** RFC 3282: a comma list; one is written as a string. */
function languageStructure(language: string | undefined): string {
  const tags = (language ?? '')
    .slice(0, 1000)
    .split(/[\s,]+/)
    .filter((tag) => tag !== '');
  if (tags.length === 0) return 'NIL';
  return tags.length === 1 ? imapString(tags[0] ?? '') : `(${tags.map(imapString).join(' ')})`;
}
