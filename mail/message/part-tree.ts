import { LIMITS } from './limits.ts';
import { plainTextHeader, readPartHeader, type PartHeader } from './part-header.ts';

/** One part of a message while its structure is found and afterwards. Offsets are octets from the message's start. */
export interface PartNode {
  readonly parent: PartNode | undefined;
  /** Counted from 1 among the children of the parent. */
  readonly ordinal: number;
  readonly children: PartNode[];
  readonly headerStart: number;
  bodyStart: number;
  bodyEnd: number;
  /** While the part is open: line ends seen before its body. Afterwards: line ends in it. */
  lines: number;
  header: PartHeader;
  /** Octets of the body without its transfer encoding, where it has one and they were counted. */
  decodedLength: number | undefined;
  /** ENVELOPE of the message that this is the root of; '' elsewhere. */
  envelope: string;
}

interface Frame {
  node: PartNode;
  /** Undefined in a leaf, in an attached message, and once the closing delimiter was seen. */
  boundary: string | undefined;
  /** The frame that had the same boundary before: nested multiparts may share one (CVE-2026-26312). */
  shadowed: number | undefined;
}

const UNREAD = readPartHeader([], 'text/plain');

/** The parts found so far, those still open, and the boundaries that may end them. Nothing here sees a byte. */
export class PartTree {
  /** In pre-order, which is the order of their headers. */
  readonly nodes: PartNode[] = [];
  /** Boundary to index in the stack: of two frames with one boundary the inner one is meant. */
  readonly boundaries = new Map<string, number>();
  readonly #stack: Frame[] = [];
  flattened = false;

  get top(): PartNode {
    const frame = this.#stack.at(-1);
    if (frame === undefined) throw new Error('No part is open');
    return frame.node;
  }

  get root(): PartNode {
    return this.nodes[0] ?? this.begin(0);
  }

  /** A new part whose header begins here, inside the innermost open part. */
  begin(headerStart: number): PartNode {
    const parent = this.#stack.at(-1)?.node;
    const node: PartNode = {
      parent,
      ordinal: (parent?.children.length ?? 0) + 1,
      children: [],
      headerStart,
      bodyStart: headerStart,
      bodyEnd: headerStart,
      lines: 0,
      header: UNREAD,
      decodedLength: undefined,
      envelope: '',
    };
    parent?.children.push(node);
    this.nodes.push(node);
    this.#stack.push({ node, boundary: undefined, shadowed: undefined });
    return node;
  }

  hasRoom(): boolean {
    return this.nodes.length < LIMITS.parts;
  }

  /** The innermost part may not be opened: it would be the first inside too many others. */
  isTooDeep(): boolean {
    return this.#stack.length > LIMITS.depth;
  }

  /** The innermost open part is a multipart: its delimiters are looked for from here on. */
  watch(boundary: string): void {
    const frame = this.#stack.at(-1);
    if (frame === undefined) return;
    frame.boundary = boundary;
    frame.shadowed = this.boundaries.get(boundary);
    this.boundaries.set(boundary, this.#stack.length - 1);
  }

  /** Ends all parts inside the frame of that index. */
  closeInside(index: number, end: number, lineEnds: number): void {
    while (this.#stack.length > index + 1) this.#close(end, lineEnds);
  }

  closeAll(end: number, lineEnds: number): void {
    while (this.#stack.length > 0) this.#close(end, lineEnds);
  }

  /** The closing delimiter of that frame was seen: what follows is epilogue. */
  unwatch(index: number): void {
    const frame = this.#stack[index];
    if (frame?.boundary === undefined) return;
    if (frame.shadowed === undefined) this.boundaries.delete(frame.boundary);
    else this.boundaries.set(frame.boundary, frame.shadowed);
    frame.boundary = undefined;
  }

  #close(end: number, lineEnds: number): void {
    this.unwatch(this.#stack.length - 1);
    const node = this.#stack.pop()?.node;
    if (node === undefined) return;
    node.bodyEnd = Math.max(node.bodyStart, end);
    node.lines = Math.max(0, lineEnds - node.lines);
  }

  /** Gives up the structure: one part is left, plain text where the root was a container. See MessageIndex.flattened. */
  flatten(): void {
    const root = this.root;
    this.flattened = true;
    this.nodes.length = 1;
    this.#stack.length = Math.min(this.#stack.length, 1);
    this.boundaries.clear();
    for (const frame of this.#stack) frame.boundary = undefined;
    root.children.length = 0;
    if (isContainer(root)) root.header = plainTextHeader(root.header.encoding);
  }

  /** Types the parts for what they turned out to be, once all are closed. */
  settle(): void {
    for (const node of this.nodes) {
      if (!isContainer(node) || node.children.length > 0) continue;
      // A multipart in which no part was found is shown as the text that it is.
      if (node.header.type === 'multipart') node.header = plainTextHeader(node.header.encoding);
      else node.header = { ...node.header, type: 'application', subtype: 'octet-stream' };
    }
  }
}

function isContainer(node: PartNode): boolean {
  const { type, subtype } = node.header;
  return type === 'multipart' || (type === 'message' && subtype === 'rfc822');
}
