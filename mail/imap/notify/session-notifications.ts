import type { AllowedUpdates, SelectedView } from '../selected-view.ts';
import type { OwnChange } from './own-change.ts';

/** The notifications of a session, as the session and its commands use them. RFC 5465. */
export interface SessionNotifications {
  /** Updates of the selected mailbox that may be sent now, outside of a command. RFC 5465 6.1, 6.2. */
  readonly betweenCommands: AllowedUpdates;
  /** Ends the notifications of the mailboxes. */
  stop(): void;
  /** Records what the client itself did to a mailbox: it is not notified of that. */
  addOwn(change: OwnChange): void;
  /** Records that a mailbox is no longer selected, and what the client knows of its messages. */
  onUnselect(view: SelectedView): void;
  /** Records changed METADATA entries of a mailbox; 0: of the account. RFC 5465 5.6, 5.7. */
  addMetadata(mailbox: number, names: readonly string[]): void;
  /** Tests if the session lists a mailbox. */
  lists(mailbox: number): boolean;
  /** Resolves when the running report was written. */
  settled(): Promise<void>;
  /** Writes what is to be reported. `allowed`: of the selected mailbox. */
  report(allowed: AllowedUpdates): Promise<void>;
}
