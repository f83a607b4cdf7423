import { jmapRow } from '../../../mail/jmap/ids.ts';
import type { NamedAddress } from '../../../mail/message/compose.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { firstField } from '../../../mail/message/header.ts';
import { ownId } from '../../../mail/message/msg-id.ts';
import type { Guard } from '../../../mail/store/sent-before.ts';
import { attachedFiles } from '../../sending/attached-files.ts';
import { composeDraft, type DraftContent } from '../../sending/draft-message.ts';
import { answeredEmail } from '../../../mail/store/answerable.ts';
import { saveDraft } from '../../sending/draft-commands.ts';
import type { EmailRequest } from '../../sending/email-request.ts';
import { keepOctets } from '../../sending/keep-octets.ts';
import type { Sender } from '../../sending/key-auth.ts';
import { decodedText, type Original, readOriginal } from '../../sending/original.ts';
import { prefixed, quoted } from '../../sending/quote.ts';
import { addressesIn, hasOdd, ownRecipient, replyRecipients } from '../../sending/reply-recipients.ts';
import { checkAuthor } from '../../sending/send-email.ts';
import type { Known } from '../../reading/summary.ts';
import type { Call } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import type { Mailbox } from '../scope.ts';
import { leavesOut, mustRead, namedOriginal, owns } from './original.ts';
import { addressOf } from './reply.ts';

/** What somebody wants a draft to be; what is left out stays, or is not there yet. */
export interface Wanted {
  from?: NamedAddress | undefined;
  to?: readonly NamedAddress[] | undefined;
  cc?: readonly NamedAddress[] | undefined;
  bcc?: readonly NamedAddress[] | undefined;
  replyTo?: readonly NamedAddress[] | undefined;
  subject?: string | undefined;
  text?: string | undefined;
  html?: string | undefined;
  attachments?: EmailRequest['attachments'] | undefined;
  quote: boolean;
}

/** A draft that begins empty, or as the answer to a message. */
export async function newDraft(
  call: Call,
  box: Mailbox,
  { inReplyTo, replyAll }: { inReplyTo: string | undefined; replyAll: boolean },
): Promise<{ start: DraftContent; answered: Original | undefined }> {
  const from = author(box);
  const nothing = { to: [], cc: [], bcc: [], replyTo: [], text: undefined, html: undefined, files: [] };
  const fresh = { ...nothing, from, subject: '', reply: undefined, messageId: undefined };
  if (inReplyTo === undefined) return { start: fresh, answered: undefined };
  mustRead(call);
  const global = /^msg_(\d+)$/.exec(inReplyTo)?.[1];
  const email = global === undefined ? jmapRow('email', box.id, inReplyTo) : Number(global);
  const { original, hidden } = email === undefined ? notFound('message') : await namedOriginal(call, box, email);
  const isOwn = owns(call, box);
  const { to, cc } = await replyRecipients(original.fields, leavesOut(call, box), replyAll);
  const own = await ownRecipient(original.fields, isOwn);
  const start = {
    ...fresh,
    to,
    cc,
    from: own === undefined ? from : { ...from, address: own },
    subject: prefixed('Re', original.subject),
    reply: original.reply,
  };
  return { start, answered: hidden ? undefined : original };
}

/** What a draft is now, whoever wrote it last, and what it answers. */
export async function presentDraft(
  call: Call,
  box: Mailbox,
  { row }: Known,
): Promise<{ start: DraftContent; kept: EmailRequest['attachments']; answered: Original | undefined }> {
  const { fields, plain, html, files, cut } = await readOriginal(call, row);
  if (['to', 'cc', 'bcc', 'reply-to'].some((name) => hasOdd(fields, name))) {
    refuse('conflict', 'An address in this draft cannot be read: correct it in a mail program first.', {
      resource: 'draft',
    });
  }
  if (cut) refuse('too_large', 'The text of this draft is too long to be changed here: open it in a mail program.');
  const [inReplyTo, references, messageId] = ['in-reply-to', 'references', 'message-id'].map((name) =>
    firstField(fields, name),
  );
  const answers =
    inReplyTo === undefined
      ? undefined
      : await call.store.read(answeredEmail, { account: box.id, ids: [ownId(inReplyTo)], shown: true });
  const answered = answers === undefined ? undefined : await namedOriginal(call, box, answers);
  const id = ownId(messageId);
  return {
    start: {
      from: addressesIn(fields, 'from')[0] ?? author(box),
      to: addressesIn(fields, 'to'),
      cc: addressesIn(fields, 'cc'),
      bcc: addressesIn(fields, 'bcc'),
      replyTo: addressesIn(fields, 'reply-to'),
      subject: decodedText(fields, 'subject'),
      text: plain,
      html,
      files: [],
      reply: inReplyTo === undefined ? undefined : { inReplyTo, references: references ?? inReplyTo },
      messageId: id === '' ? undefined : `<${id}>`,
    },
    kept: files,
    answered: answered?.hidden === undefined ? answered?.original : undefined,
  };
}

/** Writes what is wanted into the Drafts of a mailbox, in the place of an older form. Answers the new form's row. */
export async function writeDraft(
  call: Call,
  { box, sender, replaces, guard }: { box: Mailbox; sender: Sender; replaces: number | null; guard: Guard | null },
  start: DraftContent,
  { attachments, quote, text, html, ...wanted }: Wanted,
  answered: Original | undefined,
): Promise<number> {
  const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  const files = await attachedFiles(call, sender, attachments ?? []);
  const content: DraftContent = { ...start, ...given, files };
  // One form of a body says nothing new when the other one is.
  if (text !== undefined || html !== undefined) {
    const texts = quote && answered !== undefined ? quoted({ text, html }, answered) : { text, html };
    Object.assign(content, { text: texts.text, html: texts.html });
  }
  await checkAuthor(call, sender, content.from.address);
  const data = composeDraft(content, call.clock());
  if (data.length > call.settings.maxMessageBytes) {
    refuse('too_large', `The draft has ${data.length} octets: more than this server sends.`, {
      maxBytes: call.settings.maxMessageBytes,
    });
  }
  const row = {
    account: box.id,
    by: sender.agent ?? null,
    replaces,
    guard,
    index: indexMessage(data, call.store.secretLinks),
  };
  const done = await keepOctets(call.store, data, 'saved', (octets) =>
    call.change(saveDraft, { ...row, ...octets }, box.address),
  );
  switch (done.kind) {
    case 'saved':
    case 'there':
      return done.email;
    case 'changed':
      return refuse('conflict', 'The draft was changed, sent or removed meanwhile: read it again with get_draft.', {
        resource: 'draft',
      });
    case 'no-folder':
      return refuse('conflict', 'The mailbox has no folder for drafts any more: a person has to make one.', {
        resource: 'folder',
      });
    case 'over-quota':
      return refuse('too_large', 'The mailbox is full: remove something from it first.');
  }
}

function author(box: Mailbox): NamedAddress {
  const address = addressOf(box);
  return box.displayName === null ? { address } : { address, name: box.displayName };
}
