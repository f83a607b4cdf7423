/** An object of a backup. Names are generated here: lower-case letters, digits, `-`, `.` and `/`. */
export interface StoredObject {
  name: string;
  size: number;
}

/** A place for the objects of backups. An object is written once, as a whole. */
export interface BackupTarget {
  /** Its address, for messages; without secrets. */
  readonly label: string;
  /** Stores an object. Resolves when it is flushed. */
  put(name: string, octets: Buffer): Promise<void>;
  /** Octets of an object; undefined if it does not exist. */
  get(name: string): Promise<Buffer | undefined>;
  /** Objects whose name starts with the prefix. */
  list(prefix: string): Promise<StoredObject[]>;
  /** Removes an object. Removing one that does not exist succeeds. */
  remove(name: string): Promise<void>;
  /** Called once, after the manifest was put: completes the backup. */
  commit(): Promise<void>;
  /** Discards what cannot be used, and closes files. */
  close(): Promise<void>;
}
