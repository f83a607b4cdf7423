import type { Log } from '../../log.ts';
import type { NamedFlags } from '../../store/mailbox/flags.ts';
import type { ChangeOutcome, EmailChange, SetChange } from '../../store/message/email-change-commands.ts';
import { wrong } from '../core/arguments.ts';
import { readPatch } from '../standard/set-properties.ts';
import { done, refused, type SetOutcome, SetRefusal, toRefusedOutcome } from '../standard/standard-set.ts';
import {
  type EmailTarget,
  keywordFlags,
  mailboxNotFound,
  mailboxRow,
  readKeyword,
  readKeywords,
  readMailboxIds,
  tooManyKeywords,
  tooManyMailboxes,
} from './mailbox-ids.ts';

export const NOT_FOUND = refused('notFound', 'No such email.');

/** Converts the result of a change into its outcome. */
export function changeOutcome(log: Log, outcome: ChangeOutcome): SetOutcome<null> {
  switch (outcome.kind) {
    case 'changed':
      return done(null);
    case 'not-found':
      return NOT_FOUND;
    case 'missing':
      return toRefusedOutcome(mailboxNotFound(outcome.mailboxes[0] ?? 0), log);
    case 'in-none':
      return toRefusedOutcome(
        wrong('mailboxIds', 'must keep at least one mailbox. To delete the email, use "destroy"'),
        log,
      );
    case 'in-too-many':
      return toRefusedOutcome(tooManyMailboxes(), log);
    case 'too-many-keywords':
      return toRefusedOutcome(tooManyKeywords(), log);
    case 'forbidden':
      return refused('forbidden', `${outcome.why}.`);
  }
}

type Patch = Record<string, unknown>;

/** Reads a patch of an email; only keywords and mailboxIds can change. RFC 8621 4.6, 8620 5.3. */
export function readEmailPatch(target: EmailTarget, email: number, id: string, patch: Patch): EmailChange {
  const changes = readPatch(patch);
  if ('why' in changes) throw invalidPatch(changes.why);
  const keywords = new SetPatch('keywords');
  const mailboxes = new SetPatch('mailboxIds');
  for (const { tokens, value, path } of changes) {
    const set = [keywords, mailboxes].find(({ name }) => name === tokens[0]);
    if (set !== undefined) set.take(tokens, value, path);
    else if (path !== 'id' || value !== id) throw wrong(path, 'cannot be changed. Create a new email instead');
  }
  return { email, keywords: keywordChange(keywords), mailboxes: mailboxChange(target, mailboxes) };
}

/** The changes of a set property: a whole new set, or single members. */
class SetPatch {
  readonly name: string;
  /** The whole new set; undefined if not given. */
  whole: unknown;
  readonly added: string[] = [];
  readonly removed: string[] = [];

  constructor(name: string) {
    this.name = name;
  }

  take(tokens: readonly string[], value: unknown, path: string): void {
    const [, member] = tokens;
    if (member === undefined) {
      this.whole = value;
      return;
    }
    if (tokens.length > 2) throw invalidPatch(`"${path}" has too many levels`);
    if (value !== true && value !== null)
      throw wrong(this.name, 'must have true to add a member, or null to remove it');
    (value === true ? this.added : this.removed).push(member);
  }

  get isEmpty(): boolean {
    return this.added.length + this.removed.length === 0;
  }
}

/** Reads the keyword changes; null resets to no keywords. */
function keywordChange({ name, whole, added, removed, isEmpty }: SetPatch): SetChange<NamedFlags> | null {
  if (whole !== undefined) return { kind: 'replace', all: readKeywords(whole ?? {}, name) };
  if (isEmpty) return null;
  const flags = (members: readonly string[]): NamedFlags => keywordFlags(members.map((one) => readKeyword(one, name)));
  return { kind: 'patch', add: flags(added), remove: flags(removed) };
}

/** Reads the mailbox changes; removing an unknown mailbox changes nothing. */
function mailboxChange(
  target: EmailTarget,
  { name, whole, added, removed, isEmpty }: SetPatch,
): EmailChange['mailboxes'] {
  if (whole !== undefined) return { kind: 'replace', all: readMailboxIds(target, whole, name) };
  if (isEmpty) return null;
  const rows = (members: readonly string[]): (number | undefined)[] =>
    members.map((member) => mailboxRow(target, member, name));
  const add = rows(added).map((row, i) => {
    if (row === undefined) throw mailboxNotFound(added[i] ?? '', name);
    return row;
  });
  return { kind: 'patch', add, remove: rows(removed).filter((row) => row !== undefined) };
}

function invalidPatch(why: string): SetRefusal {
  return new SetRefusal('invalidPatch', `The patch is invalid: ${why}.`);
}
