/** A credential with which a mail program changes a mailbox. */
export interface PasswordActor {
  readonly credential: number;
}

/** A person who was identified without a password of the mailbox, by a session that was checked before the request. */
export interface IdentifiedPerson {
  /** Public id and name, for decisions and the audit log. */
  readonly id: string;
  readonly name: string;
  readonly ip: string;
  /** May decide about mail of agents in this mailbox. */
  readonly decides: boolean;
  /** Milliseconds UTC until which they approve without their password; rejecting needs none. */
  readonly approvesUntil: number;
}

/** The actor of a change of a mailbox. Tokens and programs are none, so they decide nothing that awaits approval. */
export type Actor = PasswordActor | { readonly person: IdentifiedPerson };
