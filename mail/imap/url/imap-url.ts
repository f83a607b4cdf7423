import type { Section } from '../fetch/items.ts';
import { parseSection } from '../fetch/section-name.ts';
import { Decoder } from '../wire/decoder.ts';
import { canonicalName } from '../wire/mailbox-name.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';

/** URL of a message, or of a part of one, on this server. RFC 5092, RFC 5550 3.3. */
export interface ImapUrl {
  /** User and host of an absolute URL, percent-decoded. */
  readonly user: string | undefined;
  readonly host: string | undefined;
  /** Undefined: the selected mailbox. */
  readonly mailbox: string | undefined;
  readonly uidValidity: number | undefined;
  readonly uid: number;
  readonly section: Section;
  readonly partial: { readonly offset: number; readonly length: number } | undefined;
}

const WHOLE: Section = { path: '', what: 'all' };
const NUMBER = /^[1-9]\d{0,9}$/;

/** Parses an absolute URL, an absolute path, or a path relative to the selected mailbox; undefined: malformed. */
export function parseImapUrl(text: string): ImapUrl | undefined {
  const [, user, host, path = ''] =
    /^(?:imap:\/\/(?:([^/@;]+)(?:;AUTH=[^/@]*)?@)?([^/@:]+)(?::\d+)?(?=\/))?(.*)$/is.exec(text) ?? [];
  const at = path.search(/(?:^|\/);UID=/i);
  if (at < 0 || !/^[/;]/.test(path)) return undefined;
  const mailbox = parseMailbox(path.slice(0, at));
  const parameters = parseParameters(path.slice(path.indexOf(';', at)));
  const names = [decoded(user), decoded(host)];
  if (mailbox === undefined || parameters === undefined || names.includes(null)) return undefined;
  return { user: names[0] ?? undefined, host: names[1] ?? undefined, ...mailbox, ...parameters };
}

/** `/Drafts;UIDVALIDITY=385759045`, or nothing for the selected mailbox. */
function parseMailbox(text: string): Pick<ImapUrl, 'mailbox' | 'uidValidity'> | undefined {
  const [name = '', validity, ...more] = text.replace(/^\//, '').split(/;UIDVALIDITY=/i);
  if (more.length > 0 || (validity !== undefined && !NUMBER.test(validity))) return undefined;
  const uidValidity = validity === undefined ? undefined : Number(validity);
  if (name === '') return uidValidity === undefined ? { mailbox: undefined, uidValidity } : undefined;
  const mailbox = canonicalName(decoded(name) ?? '');
  return mailbox === undefined ? undefined : { mailbox, uidValidity };
}

/** `;UID=20/;SECTION=1.2/;PARTIAL=0.1024`, in this order. */
function parseParameters(text: string): Pick<ImapUrl, 'uid' | 'section' | 'partial'> | undefined {
  const [, uid = '', sectionText, partialText] =
    /^;UID=(\d+)(?:\/;SECTION=([^;]+?))?(?:\/;PARTIAL=([\d.]+))?$/i.exec(text) ?? [];
  const section = sectionText === undefined ? WHOLE : parseUrlSection(sectionText);
  const partial = partialText === undefined ? undefined : parsePartial(partialText);
  if (!NUMBER.test(uid) || section === undefined || partial === null) return undefined;
  return { uid: Number(uid), section, partial };
}

function parseUrlSection(text: string): Section | undefined {
  const name = decoded(text);
  if (name === null || name === undefined) return undefined;
  try {
    const d = new Decoder(Buffer.from(`${name}]`));
    const { section } = parseSection(d);
    return d.done ? section : undefined;
  } catch (error) {
    if (error instanceof ImapSyntaxError) return undefined;
    throw error;
  }
}

/** `offset` or `offset.length`. RFC 5550 3.3: without a length up to the end. */
function parsePartial(text: string): { offset: number; length: number } | null {
  const [, offset, length] = /^(\d{1,10})(?:\.([1-9]\d{0,9}))?$/.exec(text) ?? [];
  if (offset === undefined) return null;
  return { offset: Number(offset), length: length === undefined ? Number.MAX_SAFE_INTEGER : Number(length) };
}

/** Removes the percent encoding; null: malformed. */
function decoded(text: string | undefined): string | null | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return null;
  }
}
