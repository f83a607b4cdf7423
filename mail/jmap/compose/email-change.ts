import type { Change, EmailChange } from '../../store/email-change-commands.ts';
import type { FlagSet } from '../../store/flags.ts';
import { wrong } from '../arguments.ts';
import { readPatch } from '../patch.ts';
import { SetRefusal } from '../set-refusal.ts';
import { keywordFlags, readKeyword, readKeywords } from './keywords.ts';
import { type Asked, mailboxRow, noMailbox, readMailboxIds } from './mailboxes.ts';

type Patch = Record<string, unknown>;

/** A patch of an email, whose keywords and mailboxes are all that changes. RFC 8621 4.6, 8620 5.3. */
export function readEmailChange(asked: Asked, email: number, id: string, patch: Patch): EmailChange {
  const changes = readPatch(patch);
  if ('why' in changes) throw invalidPatch(changes.why);
  const keywords = new SetPatch('keywords');
  const mailboxes = new SetPatch('mailboxIds');
  for (const { tokens, value, path } of changes) {
    const set = [keywords, mailboxes].find(({ name }) => name === tokens[0]);
    if (set !== undefined) set.take(tokens, value, path);
    else if (path !== 'id' || value !== id) throw wrong(path, 'cannot be changed: make another email instead');
  }
  return { email, keywords: keywordChange(keywords), mailboxes: mailboxChange(asked, mailboxes) };
}

/** What a patch says of a property that is a set: all of it, or single members. */
class SetPatch {
  readonly name: string;
  /** The new set as a whole; undefined: not given. */
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
    if (tokens.length > 2) throw invalidPatch(`"${path}" leads through nothing`);
    if (value !== true && value !== null)
      throw wrong(this.name, 'must have true for each member, or null to take it out');
    (value === true ? this.added : this.removed).push(member);
  }

  get isEmpty(): boolean {
    return this.added.length + this.removed.length === 0;
  }
}

/** The default of `keywords` is none. */
function keywordChange({ name, whole, added, removed, isEmpty }: SetPatch): Change<FlagSet> | null {
  if (whole !== undefined) return { kind: 'replace', all: readKeywords(whole ?? {}, name) };
  if (isEmpty) return null;
  const flags = (members: readonly string[]): FlagSet => keywordFlags(members.map((one) => readKeyword(one, name)));
  return { kind: 'patch', add: flags(added), remove: flags(removed) };
}

/** What is not there cannot be in it: taking it out changes nothing. */
function mailboxChange(asked: Asked, { name, whole, added, removed, isEmpty }: SetPatch): EmailChange['mailboxes'] {
  if (whole !== undefined) return { kind: 'replace', all: readMailboxIds(asked, whole, name) };
  if (isEmpty) return null;
  const rows = (members: readonly string[]): (number | undefined)[] =>
    members.map((member) => mailboxRow(asked, member, name));
  const add = rows(added).map((row, i) => {
    if (row === undefined) throw noMailbox(added[i] ?? '', name);
    return row;
  });
  return { kind: 'patch', add, remove: rows(removed).filter((row) => row !== undefined) };
}

function invalidPatch(why: string): SetRefusal {
  return new SetRefusal('invalidPatch', `This is no patch of an email: ${why}.`);
}
