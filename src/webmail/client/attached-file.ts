/** A file of a message that is being written. */
export interface AttachedFile {
  key: number;
  name: string;
  type: string;
  size: number;
  /** Undefined while it uploads. */
  blobId: string | undefined;
  /** 0 to 1. */
  done: number;
  /** Content-ID of an image in the text. */
  cid?: string | undefined;
}

let keys = 100_000;

/** A key for a file of a composition, unique in this page. */
export function nextFileKey(): number {
  keys += 1;
  return keys;
}
