import { LIMITS } from './limits.ts';
import { plainTextHeader, readPartHeader, type PartHeader } from './part-header.ts';

/** One part of a message, during and after parsing. Offsets are octets from the start of the message. */
export interface PartNode {
  readonly parent: PartNode | undefined;
  /** Counted from 1 among the children of the parent. */
  readonly ordinal: number;
  readonly children: PartNode[];
  readonly headerStart: number;
  bodyStart: number;
  bodyEnd: number;
  /** While the part is open: line ends before its body. Afterwards: line ends in it. */
  lines: number;
  header: PartHeader;
  /** Decoded octets of the body, if it has a transfer encoding. */
  decodedLength: number | undefined;
  /** ENVELOPE, for the root of a message; else ''. */
  envelope: string;
}

/** Reads the body of one leaf while a message is streamed. Offsets are octets from the start of the message. */
export interface LeafReader {
  /** Adds the chunk at `offset`; the part continues. */
  keep(bytes: Buffer, offset: number): void;
  /** Ends the part at the offset `end`; `bytes` is the chunk at `offset`. */
  finish(bytes: Buffer, offset: number, end: number): void;
}

interface Frame {
  node: PartNode;
  /** Undefined in a leaf, in an attached message, and after the closing delimiter. */
  boundary: string | undefined;
  /** Outer frame with the same boundary: nested multiparts may share one (CVE-2026-26312). */
  shadowed: number | undefined;
}

const UNREAD = readPartHeader([], 'text/plain');

/** Parts found so far, open parts, and their boundaries. Handles no octets. */
export class PartTree {
  /** In pre-order, which is the order of their headers. */
  readonly nodes: PartNode[] = [];
  /** Boundary to stack index; the innermost frame wins. */
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

  /** Begins a part inside the innermost open one. */
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

  /** True if the nesting limit forbids opening the innermost part. */
  isTooDeep(): boolean {
    return this.#stack.length > LIMITS.depth;
  }

  /** Starts matching the delimiters of the innermost multipart. */
  watch(boundary: string): void {
    const frame = this.#stack.at(-1);
    if (frame === undefined) return;
    frame.boundary = boundary;
    frame.shadowed = this.boundaries.get(boundary);
    this.boundaries.set(boundary, this.#stack.length - 1);
  }

  /** Ends all parts inside the frame at `index`; -1 ends all. */
  closeInside(index: number, end: number, lineEnds: number): void {
    for (let last = this.#stack.length - 1; last > index; last--) {
      if (this.#stack[last]?.boundary !== undefined) this.unwatch(last);
      const node = this.#stack.pop()?.node;
      if (node === undefined) return;
      node.bodyEnd = Math.max(node.bodyStart, end);
      node.lines = Math.max(0, lineEnds - node.lines);
    }
  }

  /** Stops matching the boundary of a frame after its closing delimiter; the rest is epilogue. */
  unwatch(index: number): void {
    const frame = this.#stack[index];
    if (frame?.boundary === undefined) return;
    if (frame.shadowed === undefined) this.boundaries.delete(frame.boundary);
    else this.boundaries.set(frame.boundary, frame.shadowed);
    frame.boundary = undefined;
  }

  /** Ends the multipart of a frame before its end: parts beyond the limit are read as its epilogue. */
  dropRest(index: number): void {
    this.flattened = true;
    this.unwatch(index);
  }

  /** Drops the structure: one part remains, text/plain if the root was a container. See MessageIndex.flattened. */
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

  /** Corrects the types of containers without children, after all parts are closed. */
  settle(): void {
    for (const node of this.nodes) {
      if (!isContainer(node) || node.children.length > 0) continue;
      // A multipart without parts becomes text/plain.
      if (node.header.type === 'multipart') node.header = plainTextHeader(node.header.encoding);
      else node.header = { ...node.header, type: 'application', subtype: 'octet-stream' };
    }
  }
}

function isContainer(node: PartNode): boolean {
  const { type, subtype } = node.header;
  return type === 'multipart' || (type === 'message' && subtype === 'rfc822');
}
