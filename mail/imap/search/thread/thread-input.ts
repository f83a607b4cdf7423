/** THREAD algorithms. RFC 5256 3, and REFS of draft-ietf-morg-inthread. */
export const THREAD_ALGORITHMS = ['ORDEREDSUBJECT', 'REFERENCES', 'REFS'] as const;
export type ThreadAlgorithm = (typeof THREAD_ALGORITHMS)[number];

/** Facts of messages by their position, for threading. */
export interface ThreadFacts {
  /** Number of different Message-IDs. */
  readonly ids: number;
  /** Number of the own Message-ID; below 0: none. */
  idAt(position: number): number;
  /** Numbers of the Message-IDs that it refers to, the parent last. */
  referencesAt(position: number): readonly number[];
  /** Base subject. */
  subjectAt(position: number): string;
  /** The subject is that of a reply or forward. */
  isReply(position: number): boolean;
  /** Sent date, else INTERNALDATE, s UTC. */
  dateAt(position: number): number;
}

/** A thread, or a part of one. Without a position it stands for a message that is not here. */
export interface ThreadNode {
  position: number | undefined;
  children: ThreadNode[];
}
