/** A mailbox as the client knows it. */
interface KnownMailbox {
  readonly id: number;
  name: string;
  subscribed: boolean;
}

/** A change that the client made itself: it knows it without a notification. RFC 5465 5. */
export type OwnChange =
  | { readonly kind: 'created' | 'removed'; readonly name: string }
  | { readonly kind: 'renamed'; readonly from: string; readonly to: string }
  | { readonly kind: 'subscribed'; readonly name: string; readonly on: boolean };

/**
 * Applies a change to the mailboxes as the client knows them. Only this very change: what others did to mailboxes of the
 * same name, or below it, is still to be reported. Returns the names of mailboxes that the client created, without those
 * that it knows: if another mailbox has such a name, the report says that the known one is gone, so it has to say also
 * that the other one is there.
 */
export function applyOwnChange(known: Map<number, KnownMailbox>, change: OwnChange): readonly string[] {
  const names = createdBy(known, change);
  if (names.length === 0) return names;
  const knownNames = new Set([...known.values()].map(({ name }) => name));
  return names.filter((name) => !knownNames.has(name));
}

/** Applies a change. Returns the names that mailboxes had to be created with, if there were none. */
function createdBy(known: Map<number, KnownMailbox>, change: OwnChange): readonly string[] {
  switch (change.kind) {
    case 'created':
      return pathTo(change.name);
    case 'removed':
      for (const { id, name } of known.values()) if (name === change.name) known.delete(id);
      return [];
    case 'subscribed':
      for (const each of known.values()) if (each.name === change.name) each.subscribed = change.on;
      return [];
    case 'renamed':
      // RFC 9051 6.3.6: INBOX stays, with its children; a new mailbox gets its messages.
      if (change.from !== 'INBOX') renameKnown(known, change);
      return pathTo(change.to);
  }
}

function renameKnown(known: Map<number, KnownMailbox>, { from, to }: { from: string; to: string }): void {
  for (const each of known.values()) {
    if (each.name === from || each.name.startsWith(`${from}/`)) each.name = to + each.name.slice(from.length);
  }
}

/** A mailbox and the levels above it, which are created with it. */
function pathTo(name: string): string[] {
  const levels = name.split('/');
  return levels.map((_, at) => levels.slice(0, at + 1).join('/'));
}
