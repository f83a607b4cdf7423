import type { Session } from './session.ts';

/**
 * Enables CONDSTORE for a client that uses it: FETCH responses to changes carry MODSEQ from now on. The mailbox that is
 * already selected sends its HIGHESTMODSEQ. RFC 7162 3.1.
 */
export function enableCondstore(session: Session): void {
  if (session.enabled.has('CONDSTORE')) return;
  session.enable('CONDSTORE');
  writeHighestModseq(session);
}

/** Writes HIGHESTMODSEQ of the selected mailbox, if there is one. RFC 7162 3.1.2.1. */
export function writeHighestModseq(session: Session): void {
  if (session.selected === undefined) return;
  session.write(`* OK [HIGHESTMODSEQ ${session.selected.syncedModseq}] Highest mod-sequence\r\n`);
}

/**
 * The code of a tagged OK after messages left the mailbox. Writes the pending updates first, so that the mod-sequence is
 * one up to which the client knows everything. RFC 7162 3.2.7.
 */
export async function expungedCode(session: Session): Promise<string | undefined> {
  if (!session.enabled.has('QRESYNC')) return undefined;
  await session.view.noteLabels(session.store);
  session.write(session.view.takeUpdates('all'));
  return `HIGHESTMODSEQ ${session.view.syncedModseq}`;
}
