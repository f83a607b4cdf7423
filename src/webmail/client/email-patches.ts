import type { EmailSummary } from './jmap-types.ts';

/** A patch of one email. RFC 8620 5.3. */
export type EmailPatch = Record<string, unknown>;

/** Patches by the ids of emails, and those that take them back. */
export interface EmailChanges {
  patches: ReadonlyMap<string, EmailPatch>;
  undo: ReadonlyMap<string, EmailPatch>;
}

/** Moves emails to a folder, out of all others; those that are in it already stay. */
export function moveChanges(emails: readonly Pick<EmailSummary, 'id' | 'mailboxIds'>[], target: string): EmailChanges {
  const moved = emails.filter(({ mailboxIds }) => mailboxIds[target] !== true);
  return {
    patches: new Map(moved.map(({ id }) => [id, { mailboxIds: { [target]: true } }])),
    undo: new Map(moved.map(({ id, mailboxIds }) => [id, { mailboxIds }])),
  };
}

/** A name in a JSON pointer. RFC 6901 3. */
const pointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Sets or removes a keyword of the emails that do not have it so. */
export function keywordChanges(
  emails: readonly Pick<EmailSummary, 'id' | 'keywords'>[],
  keyword: string,
  on: boolean,
): EmailChanges {
  const changed = emails.filter(({ keywords }) => (keywords[keyword] === true) !== on);
  const to = (state: boolean): Map<string, EmailPatch> =>
    new Map(changed.map(({ id }) => [id, { [`keywords/${pointer(keyword)}`]: state ? true : null }]));
  return { patches: to(on), undo: to(!on) };
}
