import { ImapFlow } from 'imapflow';

/** A connection to another server, which may be hostile. */
export class RemoteClient extends ImapFlow {
  /**
   * Ignores VANISHED, which is not asked for: the library makes an event of each UID in one turn of the event loop, and
   * twenty octets can name millions of UIDs.
   */
  untaggedVanished(): Promise<void> {
    return Promise.resolve();
  }
}
