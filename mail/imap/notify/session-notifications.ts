import type { AllowedUpdates } from '../selected-view.ts';

/** The notifications of a session, as the session and its commands use them. RFC 5465. */
export interface SessionNotifications {
  /** Updates of the selected mailbox that may be sent now, outside of a command. RFC 5465 6.1, 6.2. */
  readonly betweenCommands: AllowedUpdates;
  /** Ends the notifications of the mailboxes. */
  stop(): void;
  /** Records that the client changes these mailboxes itself: it is not notified of their names. */
  expectOwn(...names: readonly string[]): void;
  /** Records changed METADATA entries of a mailbox; 0: of the account. RFC 5465 5.6, 5.7. */
  addMetadata(mailbox: number, names: readonly string[]): void;
  /** Tests if the session lists a mailbox. */
  lists(mailbox: number): boolean;
  /** Resolves when the running report was written. */
  settled(): Promise<void>;
  /** Writes what is to be reported. `allowed`: of the selected mailbox. */
  report(allowed: AllowedUpdates): Promise<void>;
}
