import { MAX_ANNOTATION_OCTETS } from '../../store/mailbox/annotation.ts';
import type { Annotation, AnnotationChange } from '../../store/mailbox/annotation.ts';
import { no, ok } from '../tagged-response.ts';
import type { TaggedResponse } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import type { ImapMailboxInfo } from '../imap-store.ts';
import { metadataResponse, parseGetMetadata, parseSetMetadata, selectEntries } from '../metadata.ts';
import type { MetadataRequest } from '../metadata.ts';
import type { Session } from '../session.ts';
import { specialUse } from '../special-use.ts';

/** RFC 6154 4: this entry is the special use of the mailbox. */
const SPECIAL_USE = '/private/specialuse';

/** GETMETADATA. RFC 5464 4.2. */
export const getMetadata: ImapCommand<MetadataRequest> = {
  name: 'GETMETADATA',
  states: LOGGED_IN,
  capabilities: ['METADATA'],
  parse: parseGetMetadata,

  async run(session, request) {
    const all = await annotationsOf(session, request.mailbox);
    if (all === undefined) return no('NONEXISTENT', 'No such mailbox');
    const { values, longest } = selectEntries(all, request);
    if (values.length > 0) session.write(metadataResponse(request.mailbox, values, session.utf8));
    await session.drained();
    return longest > 0 ? ok(`METADATA LONGENTRIES ${longest}`, 'Longer values were left out') : ok('Entries listed');
  },
};

async function annotationsOf({ store }: Session, name: string): Promise<Annotation[] | undefined> {
  if (name === '') return store.annotations(0);
  const mailbox = await store.mailbox(name);
  return mailbox && [...(await store.annotations(mailbox.id)), ...roleEntry(mailbox)];
}

/** The special use of a mailbox as an entry. */
export function roleEntry({ id, role }: ImapMailboxInfo): Annotation[] {
  const use = specialUse(role);
  return use === undefined ? [] : [{ mailbox: id, name: SPECIAL_USE, value: Buffer.from(use) }];
}

/** SETMETADATA. RFC 5464 4.3. All entries are set, or none. */
export const setMetadata: ImapCommand<{ mailbox: string; changes: AnnotationChange[] }> = {
  name: 'SETMETADATA',
  changes: true,
  states: LOGGED_IN,
  parse: parseSetMetadata,

  async run(session, { mailbox: name, changes }) {
    const refused = refusal(name, changes);
    if (refused !== undefined) return refused;
    const mailbox = name === '' ? undefined : await session.store.mailbox(name);
    if (name !== '' && mailbox === undefined) return no('NONEXISTENT', 'No such mailbox');
    switch (await session.store.annotate(mailbox?.id ?? 0, changes)) {
      case 'done':
        notifyOfMetadata(session, mailbox?.id ?? 0, changes);
        return ok('Entries set');
      case 'missing':
        return no('NONEXISTENT', 'No such mailbox');
      case 'too-many':
        return no('METADATA TOOMANY', 'Too many entries in this account: remove some with NIL');
      case 'not-allowed':
        return no('NOPERM', 'Entries below /shared/ need the right w or n on this mailbox');
      case 'too-large':
        return no('OVERQUOTA', 'The entries of this account are too large together: remove some with NIL');
    }
  },
};

/** Notifies other sessions that list the mailbox: of /private/ entries those of the same account only. */
function notifyOfMetadata(by: Session, mailbox: number, changes: readonly AnnotationChange[]): void {
  for (const session of by.context.sessions) {
    const { notifications } = session;
    if (session === by || notifications === undefined) continue;
    const isSameAccount = session.login?.account === by.login?.account;
    if (mailbox === 0 ? !isSameAccount : !notifications.lists(mailbox)) continue;
    const names = changes.map(({ name }) => name).filter((name) => isSameAccount || name.startsWith('/shared/'));
    if (names.length > 0) notifications.addMetadata(mailbox, names);
  }
}

function refusal(mailbox: string, changes: readonly AnnotationChange[]): TaggedResponse | undefined {
  // Entries of the server that everybody reads would pass text between organizations.
  if (mailbox === '' && changes.some(({ name }) => name.startsWith('/shared/')))
    return no('NOPERM', 'Entries of the server below /shared/ cannot be set: use /private/');
  if (changes.some(({ name }) => name === SPECIAL_USE))
    return no('USEATTR', 'The special use of a mailbox is set when it is created: CREATE name (USE (...))');
  if (changes.some(({ value }) => (value?.length ?? 0) > MAX_ANNOTATION_OCTETS))
    return no(`METADATA MAXSIZE ${MAX_ANNOTATION_OCTETS}`, `A value has at most ${MAX_ANNOTATION_OCTETS} octets`);
  return undefined;
}
