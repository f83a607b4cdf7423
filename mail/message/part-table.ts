import { decodedParameter, parameter } from './parameters.ts';
import type { PartNode } from './part-tree.ts';
import type { Part } from './parts.ts';
import { previewText } from './preview.ts';

/** Builds the part table of a finished tree, in pre-order. */
export function partTable(nodes: readonly PartNode[]): Part[] {
  const paths = new Map<PartNode | undefined, string>();
  const parts: Part[] = [];
  for (const node of nodes) {
    const path = sectionPath(node, paths.get(node.parent) ?? '');
    if (node.children.length > 0) paths.set(node, path);
    parts.push(toPart(node, path));
  }
  return parts;
}

function sectionPath(node: PartNode, parentPath: string): string {
  const multipart = node.header.type === 'multipart';
  if (node.parent === undefined) return multipart ? '' : '1';
  // The multipart root of an attached message has no number of its own: it is "2.", its parts are 2.1 and 2.2.
  if (node.parent.header.type === 'message') return multipart ? `${parentPath}.` : `${parentPath}.1`;
  const joint = parentPath === '' || parentPath.endsWith('.') ? '' : '.';
  return `${parentPath}${joint}${node.ordinal}`;
}

function toPart(node: PartNode, path: string): Part {
  const { header } = node;
  return {
    path,
    type: header.type,
    subtype: header.subtype,
    charset: (parameter(header.params, 'charset') ?? '').toLowerCase().slice(0, 60),
    encoding: header.encoding,
    headerOffset: node.headerStart,
    bodyOffset: node.bodyStart,
    bodyLength: node.bodyEnd - node.bodyStart,
    decodedLength: node.decodedLength ?? node.bodyEnd - node.bodyStart,
    lines: node.lines,
    disposition: header.disposition?.value ?? '',
    filename: filename(node),
    contentId: (header.id ?? '').replace(/^<|>$/g, ''),
  };
}

function filename({ header }: PartNode): string {
  const given = header.disposition === undefined ? '' : decodedParameter(header.disposition.params, 'filename');
  const name = given === '' ? decodedParameter(header.params, 'name') : given;
  return name === '' ? '' : previewText(name);
}

/** Technical parts that are no attachments. */
const SERVICE = new Set([
  'application/pgp-signature',
  'application/pgp-encrypted',
  'application/pkcs7-signature',
  'application/x-pkcs7-signature',
  'message/delivery-status',
  'message/global-delivery-status',
  'message/disposition-notification',
  'message/feedback-report',
  'text/rfc822-headers',
  'message/global-headers',
  'application/applefile',
]);

/** True if a message has attachments (hasAttachment). RFC 8621 4.1.4 leaves the definition to the server. */
export function hasAttachment(parts: readonly Part[]): boolean {
  return parts.some((part) => {
    const { type, disposition, filename } = part;
    const name = `${type}/${part.subtype}`;
    if (type === 'multipart' || SERVICE.has(name)) return false;
    if (disposition === 'attachment') return true;
    if (type === 'text') return filename !== '' && disposition !== 'inline';
    // Images shown in the text are no attachments; but Apple Mail marks every PDF as inline.
    if (type === 'image' && (disposition === 'inline' || part.contentId !== '')) return false;
    return disposition !== 'inline' || filename !== '';
  });
}
