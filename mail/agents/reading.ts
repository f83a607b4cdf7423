/**
 * Depth of a read, from least to most: `listed`: summary lines; `downloaded`: octets, as programs copy them; `read`: the
 * text; `sent`: the octets leave the mailbox, read or not.
 */
export type ReadDepth = 'listed' | 'downloaded' | 'read' | 'sent';

/** Messages of one account that are about to be shown. */
export interface ReadEvent {
  readonly account: number;
  readonly emails: readonly number[];
  readonly depth: ReadDepth;
}

/** Resolves when the taint is on disk: the messages must not be shown before that. */
export type OnRead = (event: ReadEvent) => Promise<void>;
