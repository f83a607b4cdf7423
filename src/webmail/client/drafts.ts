import { signal } from '@preact/signals';
import type { AttachedFile } from './attached-file.ts';
import { composition, type Composition } from './compose-state.ts';
import { outgoingMarkup, shownImages } from './editor-html.ts';
import { fullTime } from './format.ts';
import type { MailAddress } from './jmap-types.ts';
import { MailError, methods, throwRefusals } from './jmap.ts';
import { identities } from './mail-state.ts';
import { attempt, hideNotice, showNotice } from './notices.ts';
import { parseRecipients } from './recipients.ts';
import { cancelSubmission, createdId, draftsFolder, submitEmail, UNDO_MS } from './submission.ts';
import { refreshList } from './thread-list.ts';
import { t } from './translate.ts';

const NO_IMAGES: ReadonlySet<string> = new Set();

interface DraftEmail {
  [property: string]: unknown;
}

/** The email object of a composition. RFC 8621 4.6. */
export function emailOfDraft(
  composed: Composition,
  folder: string,
  keywords: Readonly<Record<string, boolean>>,
): DraftEmail {
  const { subject, text, markup, files, inReplyTo, references } = composed;
  const shown = markup === undefined ? NO_IMAGES : shownImages(markup);
  const identity = identities.value.find(({ id }) => id === composed.identityId);
  if (identity === undefined) throw new MailError(t('error.no-identity'));
  return {
    mailboxIds: { [folder]: true },
    keywords,
    from: [{ name: identity.name === '' ? null : identity.name, email: identity.email }],
    to: addresses(composed.to),
    cc: addresses(composed.cc),
    bcc: addresses(composed.bcc),
    subject,
    ...(inReplyTo.length > 0 && { inReplyTo }),
    ...(references.length > 0 && { references }),
    ...bodyOf(text, markup),
    attachments: files.flatMap((file) => partOf(file, shown)),
  };
}

/** Plain text always; formatted text beside it, of which a reader's program shows what it can. RFC 2046 5.1.4. */
function bodyOf(text: string, markup: string | undefined): DraftEmail {
  const textBody = [{ partId: 'text', type: 'text/plain' }];
  if (markup === undefined) return { bodyValues: { text: { value: text } }, textBody };
  return {
    bodyValues: { text: { value: text }, markup: { value: outgoingMarkup(markup) } },
    textBody,
    htmlBody: [{ partId: 'markup', type: 'text/html' }],
  };
}

/** A file as a part; an image that was deleted from the text is left out. */
function partOf({ blobId, name, type, cid }: AttachedFile, shown: ReadonlySet<string>): DraftEmail[] {
  if (blobId === undefined) return [];
  if (cid === undefined) return [{ blobId, name, type, disposition: 'attachment' }];
  return shown.has(cid) ? [{ blobId, name, type, disposition: 'inline', cid }] : [];
}

/** Saved drafts keep what is not an address yet out of the header. */
function addresses(text: string): MailAddress[] | null {
  const { addresses: found } = parseRecipients(text);
  return found.length === 0 ? null : found;
}

let saving: Promise<void> = Promise.resolve();

/** Saves the draft after the save that runs now: two at once would leave two drafts. */
export function saveOpenDraft(): Promise<void> {
  saving = saving.then(saveNow, saveNow);
  return saving;
}

async function saveNow(): Promise<void> {
  const composed = composition.value;
  if (composed === undefined) return;
  const { draftId: before } = composed;
  const [result] = await methods([
    'Email/set',
    { create: { draft: emailOfDraft(composed, draftsFolder(), { $draft: true, $seen: true }) } },
  ]);
  throwRefusals(result ?? {}, t('error.not-saved-draft'));
  if (composition.value !== undefined)
    composition.value = { ...composition.value, draftId: createdId(result, 'draft') };
  // Not in one call: a refused new draft would leave none.
  if (before !== undefined) await methods(['Email/set', { destroy: [before] }]);
}

/** Closes the composer; the draft stays in its folder. */
export function closeComposer(): Promise<void> {
  return attempt(async () => {
    const isEmpty = isBlank(composition.value);
    if (!isEmpty) await saveOpenDraft();
    composition.value = undefined;
    await refreshList();
    if (!isEmpty) showNotice(t('compose.draft-saved'));
  });
}

function isBlank(composed: Composition | undefined): boolean {
  if (composed === undefined) return true;
  const { to, cc, bcc, subject, files, draftId, text } = composed;
  return (
    [to, cc, bcc, subject, text.replace(/\n-- \n[\s\S]*$/, '')].join('').trim() === '' &&
    files.length === 0 &&
    draftId === undefined
  );
}

/** Closes the composer and deletes the draft. */
export function discardOpenDraft(): Promise<void> {
  return attempt(async () => {
    // A save that runs would leave its draft.
    await saving.catch(() => undefined);
    const id = composition.value?.draftId;
    composition.value = undefined;
    if (id !== undefined) await methods(['Email/set', { destroy: [id] }]);
    await refreshList();
    showNotice(t('compose.draft-deleted'));
  });
}

/** Question before sending, such as a missing attachment; undefined: none. */
export function sendingWarning({ text, subject, files }: Composition): string | undefined {
  const own = text
    .split('\n')
    .filter((line) => !line.startsWith('>'))
    .join('\n')
    .slice(0, 100_000);
  if (
    files.every(({ cid }) => cid !== undefined) &&
    /\b(?:attach(?:ed|ment)|enclosed|im anhang|angehängt|adjunt[oa])\b/iu.test(own)
  ) {
    return t('compose.no-attachment');
  }
  return subject.trim() === '' ? t('compose.no-subject') : undefined;
}

/** Checks the recipients; returns a sentence about what is wrong. */
export function recipientProblem({ to, cc, bcc }: Composition): string | undefined {
  const parsed = [to, cc, bcc].map(parseRecipients);
  const invalid = parsed.flatMap((one) => one.invalid);
  if (invalid.length > 0) return t('compose.invalid', { addresses: invalid.slice(0, 3).join(', ') });
  return parsed.every((one) => one.addresses.length === 0) ? t('compose.no-recipient') : undefined;
}

/** True while the message that is open is submitted: a second press of Send would send it again. */
export const isSending = signal(false);

/** Saves and submits the message. It leaves after ten seconds, in which it can be taken back, or at a later time. */
export function sendComposition(at?: Date): Promise<void> {
  return attempt(async () => {
    isSending.value = true;
    const sent = await submitOpen(at).finally(() => (isSending.value = false));
    if (sent === undefined) return;
    const { submission, composed } = sent;
    const text = at === undefined ? t('compose.sent') : t('compose.will-be-sent', { time: fullTime(at.toISOString()) });
    showNotice(text, () => takeBack(submission, composed), UNDO_MS);
    await markSource(composed);
    await refreshList();
  });
}

/** Submits the message that is open, and closes it. */
async function submitOpen(at?: Date): Promise<{ submission: string; composed: Composition } | undefined> {
  await saveOpenDraft();
  const composed = composition.value;
  if (composed?.draftId === undefined) return undefined;
  const submission = await submit(composed, composed.draftId, at);
  composition.value = undefined;
  return { submission, composed };
}

/** Marks the email that was answered or forwarded; after the message was sent, as a failure must not invite sending it again. */
async function markSource({ source }: Composition): Promise<void> {
  if (source === undefined) return;
  await methods(['Email/set', { update: { [source.id]: { [`keywords/${source.keyword}`]: true } } }]);
}

function submit({ identityId, to, cc, bcc }: Composition, emailId: string, at?: Date): Promise<string> {
  const identity = identities.value.find(({ id }) => id === identityId);
  if (identity === undefined) throw new MailError(t('error.no-identity'));
  const recipients = [to, cc, bcc].flatMap((text) => parseRecipients(text).addresses.map(({ email }) => email));
  return submitEmail({ emailId, identity, recipients, at });
}

/** Cancels a submission and opens the message again. */
async function takeBack(id: string, composed: Composition): Promise<void> {
  await cancelSubmission(id, composed.draftId ?? '');
  hideNotice();
  // Another message may have been begun meanwhile: it stays as a draft.
  if (!isBlank(composition.value)) await saveOpenDraft();
  composition.value = composed;
  await refreshList();
}
