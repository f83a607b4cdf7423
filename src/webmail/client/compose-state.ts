import { signal } from '@preact/signals';
import { type AttachedFile, nextFileKey } from './attached-file.ts';
import { addressText, bareSubject, fullTime, nameOf } from './format.ts';
import { markupOfText } from './editor-html.ts';
import type { FullEmail, MailAddress, MailIdentity } from './jmap-types.ts';
import { identityFor, isOwnAddress } from './mail-state.ts';
import { hasMarkup, mediaParts } from './body-parts.ts';
import { quotedMarkup } from './quoted-markup.ts';
import { canSend } from './rights.ts';
import { showNotice } from './notices.ts';
import { markupSignature, plainSignature } from './signature.ts';
import { t } from './translate.ts';

/** A message that is being written. */
export interface Composition {
  identityId: string;
  to: string;
  cc: string;
  bcc: string;
  subject: string;
  /** Plain text; with formatted text, the plain form of it. */
  text: string;
  /** Formatted text; undefined in a plain message. */
  markup: string | undefined;
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
  markup: undefined,
  files: [],
  inReplyTo: [],
  references: [],
  source: undefined,
  draftId: undefined,
};

/** Opens the composer. A message that is being written is not thrown away: the reader is asked to end it first. */
export function compose(given: Partial<Composition> = {}): void {
  if (!canSend()) return showNotice(t('error.cannot-send'));
  if (composition.value !== undefined) {
    document.querySelector<HTMLElement>('.composer textarea, .composer [contenteditable], .composer input')?.focus();
    return showNotice(t('compose.one-at-a-time'));
  }
  const identity = identityFor([]);
  const isPlain = given.text !== undefined && given.markup === undefined;
  const markup = isPlain || writesPlain.value ? undefined : `<div><br></div>${markupSignature(identity)}`;
  composition.value = { ...BLANK, identityId: identity?.id ?? '', text: plainSignature(identity), markup, ...given };
}

const PLAIN_KEY = 'mailstead:writes-plain';

/** True when new messages are plain text: the choice of the last message that was switched. */
export const writesPlain = signal(localStorage.getItem(PLAIN_KEY) === 'yes');

/** Remembers in this browser whether new messages are plain text. */
export function rememberPlain(plain: boolean): void {
  writesPlain.value = plain;
  localStorage.setItem(PLAIN_KEY, plain ? 'yes' : 'no');
}

/** Opens the composer for a `mailto:` address. RFC 6068; only recipients, subject and text are taken. */
export function composeMailto(href: string): void {
  if (!URL.canParse(href)) return;
  const { pathname, searchParams } = new URL(href);
  const [subject, text] = [searchParams.get('subject') ?? '', searchParams.get('body') ?? ''];
  compose({ to: decodeURIComponent(pathname), subject: subject.slice(0, 500), text: text.slice(0, 20_000) });
}

const list = (addresses: readonly MailAddress[]): string => addresses.map(addressText).join(', ');

/** Opens the composer for an answer; to a formatted message, a formatted one. */
export async function composeReply(email: FullEmail, all: boolean): Promise<void> {
  const quote = hasMarkup(email) && !writesPlain.value ? await quotedMarkup(email) : undefined;
  const authors = notEmpty(email.replyTo) ?? email.from ?? [];
  const toSelf = authors.every(({ email: one }) => isOwnAddress(one));
  const to = toSelf ? (email.to ?? []) : authors;
  const others = [...(toSelf ? [] : (email.to ?? [])), ...(email.cc ?? [])].filter(
    (one) => !isOwnAddress(one.email) && !to.some(({ email: other }) => other === one.email),
  );
  const identity = identityFor([...(email.to ?? []), ...(email.cc ?? [])].map((one) => one.email));
  compose({
    ...threading(email),
    identityId: identity?.id ?? '',
    to: list(to),
    cc: all ? list(others) : '',
    subject: `Re: ${bareSubject(email.subject ?? '')}`,
    text: `\n\n${introduction(email)}\n${quoted(emailText(email))}`,
    markup:
      quote &&
      `${START}${markupSignature(identity)}${lineOf(introduction(email))}<blockquote>${quote.markup}</blockquote>`,
    files: quote?.images ?? [],
    source: { id: email.id, keyword: '$answered' },
  });
}

/** Opens the composer to pass an email on, with its attachments. */
export async function composeForward(email: FullEmail): Promise<void> {
  const original = hasMarkup(email) && !writesPlain.value ? await quotedMarkup(email) : undefined;
  const head = [
    `---------- ${t('compose.forwarded')} ----------`,
    `${t('header.from')}: ${list(email.from ?? [])}`,
    `${t('header.date')}: ${fullTime(email.receivedAt)}`,
    `${t('header.subject')}: ${email.subject ?? ''}`,
    `${t('header.to')}: ${list(email.to ?? [])}`,
  ].join('\n');
  compose({
    subject: `Fwd: ${bareSubject(email.subject ?? '')}`,
    text: `\n\n${head}\n\n${emailText(email)}`,
    markup: original && `${START}${markupOfText(head)}<div><br></div>${original.markup}`,
    files: filesWith(email, original?.images ?? []),
    source: { id: email.id, keyword: '$forwarded' },
  });
}

/** Content of a message that was written here, for the editor. */
export type SavedContent = Pick<Composition, 'to' | 'cc' | 'bcc' | 'subject' | 'text' | 'markup' | 'files'>;

/** Reads the content of a draft or a template. */
export async function savedContent(email: FullEmail): Promise<SavedContent> {
  const saved = hasMarkup(email) ? await quotedMarkup(email) : undefined;
  return {
    to: list(email.to ?? []),
    cc: list(email.cc ?? []),
    bcc: list(email.bcc ?? []),
    subject: email.subject ?? '',
    text: emailText(email),
    markup: saved?.markup,
    files: filesWith(email, saved?.images ?? []),
  };
}

const senderOf = (email: FullEmail): MailIdentity | undefined =>
  identityFor((email.from ?? []).map((one) => one.email));

/** Continues a saved draft. */
export async function composeDraft(email: FullEmail): Promise<void> {
  compose({
    ...(await savedContent(email)),
    identityId: senderOf(email)?.id ?? '',
    inReplyTo: email.inReplyTo ?? [],
    references: email.references ?? [],
    draftId: email.id,
  });
}

/** Begins a message with a template, and the signature of its sender. */
export async function composeTemplate(email: FullEmail): Promise<void> {
  const content = await savedContent(email);
  const identity = senderOf(email);
  const { markup } = content;
  compose({
    ...content,
    identityId: identity?.id ?? '',
    text: `${content.text}${plainSignature(identity)}`,
    markup: markup === undefined ? undefined : `${markup}${markupSignature(identity)}`,
  });
}

const notEmpty = <T>(items: T[] | null): T[] | undefined => (items === null || items.length === 0 ? undefined : items);

/** The cursor's line at the begin. */
const START = '<div><br></div>';

const lineOf = (text: string): string => `<div><br></div>${markupOfText(text)}`;

/** The files of an email: the images that its text shows, and the others as attachments. */
function filesWith(email: FullEmail, images: readonly AttachedFile[]): AttachedFile[] {
  const files = [...mediaParts(email), ...email.attachments];
  const others = files.filter(({ cid }) => cid === null || !images.some((one) => one.cid === cid));
  const attached = others.flatMap(({ blobId, name, type, size }) =>
    blobId === null ? [] : [{ key: nextFileKey(), name: name ?? 'file', type, size, blobId, done: 1 }],
  );
  return [...images, ...attached];
}

function threading({ messageId, references, inReplyTo }: FullEmail): Pick<Composition, 'inReplyTo' | 'references'> {
  const own = messageId ?? [];
  return { inReplyTo: own, references: [...(references ?? inReplyTo ?? []), ...own].slice(-50) };
}

function introduction({ from, receivedAt }: FullEmail): string {
  return t('compose.wrote', { name: (from ?? []).map(nameOf).join(', '), time: fullTime(receivedAt) });
}

function quoted(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`))
    .join('\n');
}

/** The text of an email; of HTML alone, what a reader sees of it. */
export function emailText({ textBody, bodyValues }: FullEmail): string {
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
