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

/**
 * Words outside of messages that are about to be shown, or written: names of mailboxes (`folders`) and identities
 * (`mailboxes`), labels, uploads. They pass taint on between agents.
 */
export interface WordsEvent {
  readonly account: number;
  readonly kinds: readonly string[];
  readonly written: boolean;
}

/** Resolves when the taint is on disk: the words must not be shown or written before that. */
export type OnWords = (event: WordsEvent) => Promise<void>;

/** Resolves when the taint is on disk: the messages must not be shown before that. */
export type OnRead = (event: ReadEvent) => Promise<void>;
