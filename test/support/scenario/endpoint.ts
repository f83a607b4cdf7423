import type { Box } from '../box.ts';

/** Roles of mailboxes; every protocol has a name of its own for each role. */
export type Role = 'inbox' | 'drafts' | 'sent' | 'trash' | 'archive';

/** A message in a list: newest first. */
export interface Shown {
  subject: string;
  from: string;
  seen: boolean;
  flagged: boolean;
  answered: boolean;
  draft: boolean;
}

/** A message that is read. */
export interface Read {
  subject: string;
  from: string;
  to: string[];
  text: string;
  attachments: { name: string; content: string }[];
}

export interface Letter {
  to: string;
  subject: string;
  text: string;
}

/**
 * Actions of a person on a mailbox, over any protocol. A message is identified by its subject, which is unique in its
 * mailbox. Each protocol sees a change by another protocol as soon as that change was answered.
 */
export interface Endpoint extends AsyncDisposable {
  list(role: Role): Promise<Shown[]>;
  read(role: Role, subject: string): Promise<Read>;
  mark(role: Role, subject: string, flag: 'seen' | 'flagged' | 'answered', on: boolean): Promise<void>;
  move(from: Role, subject: string, to: Role): Promise<void>;
  /** Subjects of the messages of a mailbox that have this word in their text. */
  search(role: Role, word: string): Promise<string[]>;
  /** Keeps a letter in Drafts. */
  draft(letter: Letter): Promise<void>;
  /** Sends what lies in Drafts, from where it goes to Sent, seen and a draft no more. */
  send(subject: string): Promise<void>;
  /** For good. */
  remove(role: Role, subject: string): Promise<void>;
}

/** A way in. */
export interface Way {
  readonly name: string;
  /** Nothing is deleted for good over it. */
  readonly destroys?: false;
  open(box: Box, address: string, password: string): Promise<Endpoint>;
}
