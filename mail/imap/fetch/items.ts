/** What BODY[...] names inside of a message. RFC 9051 6.4.5. */
export interface Section {
  /** Part numbers with dots, '' for the message itself. */
  path: string;
  what: 'all' | 'header' | 'fields' | 'fields-not' | 'text' | 'mime';
  /** Field names of HEADER.FIELDS as written. */
  fields?: readonly string[];
}

export interface SimpleItem {
  kind: 'uid' | 'flags' | 'internaldate' | 'size' | 'envelope' | 'bodystructure' | 'body';
}

export interface SectionItem {
  kind: 'section';
  /** The name in the answer: `BODY[HEADER.FIELDS (FROM TO)]`, `BODY[]<0>`, `RFC822.TEXT`. */
  name: string;
  section: Section;
  peek: boolean;
  partial?: { offset: number; length: number };
}

/** A new item is one more kind here, a word in parse.ts and a case in render.ts. */
export type FetchItem = SimpleItem | SectionItem;

export interface FetchRequest {
  /** UID first when it is there; each item once. */
  items: readonly FetchItem[];
  /** Some item sets \Seen: any BODY[...] that is not BODY.PEEK[...], RFC822, RFC822.TEXT. */
  setsSeen: boolean;
  /** What must be read: nothing but the view, the row, the row with its structure, or also the message. */
  reads: 'view' | 'row' | 'structure' | 'content';
  /** Whether rows are to be asked for with their structure; not so for BODY[] alone. */
  structure: boolean;
}
