import { signal } from '@preact/signals';
import { addressText, bareSubject, fullTime, nameOf } from './format.ts';
import type { FullEmail, MailAddress } from './jmap-types.ts';
import { identityFor, isOwnAddress } from './mail-state.ts';

export interface AttachedFile {
  key: number;
  name: string;
  type: string;
  size: number;
  /** Undefined while it uploads. */
  blobId: string | undefined;
  /** 0 to 1. */
  done: number;
}

/** A message that is being written. */
export interface Composition {
  identityId: string;
  to: string;
  cc: string;
  bcc: string;
  subject: string;
  text: string;
  files: AttachedFile[];
  inReplyTo: string[];
  references: string[];
  /** Email that it answers or forwards, and the keyword that this gives it. */
  source: { id: string; keyword: '$answered' | '$forwarded' } | undefined;
  /** Saved draft, which the next save replaces. */
  draftId: string | undefined;
}

export const composition = signal<Composition | undefined>(undefined);

const BLANK: Omit<Composition, 'identityId'> = {
  to: '',
  cc: '',
  bcc: '',
  subject: '',
  text: '',
  files: [],
  inReplyTo: [],
  references: [],
  source: undefined,
  draftId: undefined,
};

/** Opens the composer. Changes nothing when a message is being written already: it is not thrown away. */
export function compose(given: Partial<Composition> = {}): void {
  if (composition.value !== undefined) return;
  const identity = identityFor([]);
  const signature = identity?.textSignature ?? '';
  const text = signature === '' ? '' : `\n\n-- \n${signature}`;
  composition.value = { ...BLANK, identityId: identity?.id ?? '', text, ...given };
}

/** Opens the composer for a `mailto:` address. RFC 6068; only recipients, subject and text are taken. */
export function composeMailto(href: string): void {
  if (!URL.canParse(href)) return;
  const { pathname, searchParams } = new URL(href);
  const [subject, text] = [searchParams.get('subject') ?? '', searchParams.get('body') ?? ''];
  compose({ to: decodeURIComponent(pathname), subject: subject.slice(0, 500), text: text.slice(0, 20_000) });
}

const list = (addresses: readonly MailAddress[]): string => addresses.map(addressText).join(', ');

/** Opens the composer for an answer. */
export function composeReply(email: FullEmail, all: boolean): void {
  const authors = notEmpty(email.replyTo) ?? email.from ?? [];
  const toSelf = authors.every(({ email: one }) => isOwnAddress(one));
  const to = toSelf ? (email.to ?? []) : authors;
  const others = [...(toSelf ? [] : (email.to ?? [])), ...(email.cc ?? [])].filter(
    (one) => !isOwnAddress(one.email) && !to.some(({ email: other }) => other === one.email),
  );
  compose({
    ...threading(email),
    identityId: identityFor([...(email.to ?? []), ...(email.cc ?? [])].map((one) => one.email))?.id ?? '',
    to: list(to),
    cc: all ? list(others) : '',
    subject: `Re: ${bareSubject(email.subject ?? '')}`,
    text: `\n\n${introduction(email)}\n${quoted(textOf(email))}`,
    source: { id: email.id, keyword: '$answered' },
  });
}

/** Opens the composer to pass an email on, with its attachments. */
export function composeForward(email: FullEmail): void {
  const head = [
    '---------- Forwarded message ----------',
    `From: ${list(email.from ?? [])}`,
    `Date: ${fullTime(email.receivedAt)}`,
    `Subject: ${email.subject ?? ''}`,
    `To: ${list(email.to ?? [])}`,
  ].join('\n');
  compose({
    subject: `Fwd: ${bareSubject(email.subject ?? '')}`,
    text: `\n\n${head}\n\n${textOf(email)}`,
    files: filesOf(email),
    source: { id: email.id, keyword: '$forwarded' },
  });
}

/** Continues a saved draft. */
export function composeDraft(email: FullEmail): void {
  compose({
    identityId: identityFor((email.from ?? []).map((one) => one.email))?.id ?? '',
    to: list(email.to ?? []),
    cc: list(email.cc ?? []),
    bcc: list(email.bcc ?? []),
    subject: email.subject ?? '',
    text: textOf(email),
    files: filesOf(email),
    inReplyTo: email.inReplyTo ?? [],
    references: email.references ?? [],
    draftId: email.id,
  });
}

const notEmpty = <T>(items: T[] | null): T[] | undefined => (items === null || items.length === 0 ? undefined : items);

function filesOf({ attachments }: FullEmail): AttachedFile[] {
  return attachments.flatMap(({ blobId, name, type, size }, key) =>
    blobId === null ? [] : [{ key, name: name ?? 'file', type, size, blobId, done: 1 }],
  );
}

function threading({ messageId, references, inReplyTo }: FullEmail): Pick<Composition, 'inReplyTo' | 'references'> {
  const own = messageId ?? [];
  return { inReplyTo: own, references: [...(references ?? inReplyTo ?? []), ...own].slice(-50) };
}

function introduction({ from, receivedAt }: FullEmail): string {
  return `${(from ?? []).map(nameOf).join(', ')} wrote on ${fullTime(receivedAt)}:`;
}

function quoted(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`))
    .join('\n');
}

/** The text of an email; of HTML alone, what a reader sees of it. */
export function textOf({ textBody, bodyValues }: FullEmail): string {
  return textBody
    .map(({ partId, type }) => {
      const value = bodyValues[partId ?? '']?.value ?? '';
      return type === 'text/html' ? visibleText(value) : value;
    })
    .join('\n')
    .replaceAll('\r\n', '\n');
}

function visibleText(markup: string): string {
  const parsed = new DOMParser().parseFromString(
    markup.replaceAll(/<(?:br|\/p|\/div|\/tr|\/h\d)\b[^>]*>/gi, '$&\n'),
    'text/html',
  );
  for (const hidden of parsed.querySelectorAll('style, script, title')) hidden.remove();
  return (parsed.body.textContent ?? '')
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
