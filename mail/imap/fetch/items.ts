/** The section of BODY[...]. RFC 9051 6.4.5. */
export interface Section {
  /** Part numbers with dots; '' is the message itself. */
  path: string;
  what: 'all' | 'header' | 'fields' | 'fields-not' | 'text' | 'mime';
  /** Field names of HEADER.FIELDS as written. */
  fields?: readonly string[];
}

export interface SimpleItem {
  kind:
    | 'uid'
    | 'flags'
    | 'internaldate'
    | 'size'
    | 'envelope'
    | 'bodystructure'
    | 'body'
    | 'emailid'
    | 'threadid'
    | 'savedate'
    | 'preview'
    | 'modseq';
}

export interface SectionItem {
  kind: 'section';
  /** The name in the response: `BODY[HEADER.FIELDS (FROM TO)]`, `BODY[]<0>`, `RFC822.TEXT`. */
  name: string;
  section: Section;
  peek: boolean;
  partial?: { offset: number; length: number };
}

/** BINARY[...]: a part without its transfer encoding. RFC 3516. */
export interface BinaryItem {
  kind: 'binary';
  /** The name in the response: `BINARY[1.2]<0>`. */
  name: string;
  /** Part numbers with dots; '' is the message itself. */
  path: string;
  peek: boolean;
  partial?: { offset: number; length: number };
}

export interface BinarySizeItem {
  kind: 'binary-size';
  name: string;
  section: Section;
}

/** A new item needs a kind here, a name in parse.ts and a case in render.ts. */
export type FetchItem = SimpleItem | SectionItem | BinaryItem | BinarySizeItem;

export function isSectionItem(item: FetchItem): item is SectionItem {
  return item.kind === 'section';
}

export interface FetchRequest {
  /** UID first if present; each item once. */
  items: readonly FetchItem[];
  /** Some item sets \Seen: any BODY[...] or BINARY[...] without .PEEK, RFC822, RFC822.TEXT. */
  setsSeen: boolean;
  /** Data to read: only the view, the row, the row with its structure, or the message too. */
  reads: 'view' | 'row' | 'structure' | 'content';
  /** True when rows are read with their structure; BODY[] alone needs none. */
  structure: boolean;
  /** True when PREVIEW is requested. */
  preview: boolean;
}
