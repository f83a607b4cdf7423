import type { NamedAddress } from '../../../mail/message/compose-text.ts';
import { firstField } from '../../../mail/message/header.ts';
import { ownId } from '../../../mail/message/msg-id.ts';
import type { IdempotencyGuard } from '../../../mail/store/queue/idempotency.ts';
import { attachedFiles } from '../../sending/attached-files.ts';
import { composeDraftOctets, type DraftContent } from '../../sending/draft-message.ts';
import { findRepliedEmail } from '../../../mail/store/message/reply-target.ts';
import { saveDraft } from '../../sending/draft-commands.ts';
import type { EmailRequest } from '../../sending/email-request.ts';
import { withStoredOctets } from '../../sending/stored-octets.ts';
import type { ApiSender } from '../../sending/key-auth.ts';
import { decodedText, type OriginalMessage, readOriginal } from '../../sending/original.ts';
import { prefixed, appendQuote } from '../../sending/quote.ts';
import { addressesIn, hasUnreadableAddress, ownRecipient, replyRecipients } from '../../sending/reply-recipients.ts';
import { checkAuthor } from '../../sending/send-email.ts';
import type { LoadedMessage } from '../../reading/summary.ts';
import { rowIn } from '../../core/message-ids.ts';
import type { Call } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import type { Mailbox } from '../scope.ts';
import { leavesOut, mustRead, namedOriginal, ownAddressTest } from './original.ts';
import { addressOf } from './reply.ts';

/** Requested content of a draft; omitted fields stay. */
export interface DraftRequest {
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

/** Starts a draft: empty, or as a reply. */
export async function newDraft(
  call: Call,
  box: Mailbox,
  { inReplyTo, replyAll }: { inReplyTo: string | undefined; replyAll: boolean },
): Promise<{ start: DraftContent; answered: OriginalMessage | undefined }> {
  const from = author(box);
  const nothing = { to: [], cc: [], bcc: [], replyTo: [], text: undefined, html: undefined, files: [] };
  const fresh = { ...nothing, from, subject: '', reply: undefined, messageId: undefined };
  if (inReplyTo === undefined) return { start: fresh, answered: undefined };
  mustRead(call);
  const email = rowIn('email', box.id, inReplyTo);
  const { original, hidden } = email === undefined ? notFound('message') : await namedOriginal(call, box, email);
  const isOwn = ownAddressTest(call, box);
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

/** Loads the current content of a draft, and the message that it replies to. */
export async function presentDraft(
  call: Call,
  box: Mailbox,
  { row }: LoadedMessage,
): Promise<{ start: DraftContent; kept: EmailRequest['attachments']; answered: OriginalMessage | undefined }> {
  const { fields, plain, html, files, cut } = await readOriginal(call, row);
  if (['to', 'cc', 'bcc', 'reply-to'].some((name) => hasUnreadableAddress(fields, name))) {
    refuse('conflict', 'An address in this draft is invalid: correct it in a mail program first.', {
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
      : await call.store.read(findRepliedEmail, { account: box.id, ids: [ownId(inReplyTo)], shown: true });
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

/** Stores the draft in Drafts, replacing its former version. Returns the new row. */
export async function writeDraft(
  call: Call,
  {
    box,
    sender,
    replaces,
    guard,
  }: { box: Mailbox; sender: ApiSender; replaces: number | null; guard: IdempotencyGuard | null },
  start: DraftContent,
  { attachments, quote, text, html, ...wanted }: DraftRequest,
  answered: OriginalMessage | undefined,
): Promise<number> {
  const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  const files = await attachedFiles(call, sender, attachments ?? []);
  const content: DraftContent = { ...start, ...given, files };
  // A changed body replaces both forms: the other one would be outdated.
  if (text !== undefined || html !== undefined) {
    const texts = quote && answered !== undefined ? appendQuote({ text, html }, answered) : { text, html };
    Object.assign(content, { text: texts.text, html: texts.html });
  }
  await checkAuthor(call, sender, content.from.address);
  const { data, index } = await composeDraftOctets(call, content, call.clock());
  if (data.length > call.settings.maxMessageBytes) {
    refuse('too_large', `The draft has ${data.length} bytes: more than this server sends.`, {
      maxBytes: call.settings.maxMessageBytes,
    });
  }
  const row = {
    account: box.id,
    by: sender.agent ?? null,
    replaces,
    guard,
    index,
  };
  const done = await withStoredOctets(call.store, data, 'saved', (octets) =>
    call.change(saveDraft, { ...row, ...octets }, box.address),
  );
  switch (done.kind) {
    case 'saved':
    case 'there':
      return done.email;
    case 'changed':
      return refuse('conflict', 'The draft was changed, sent or deleted meanwhile: read it again with get_draft.', {
        resource: 'draft',
      });
    case 'no-folder':
      return refuse('conflict', 'The mailbox has no Drafts folder: a person has to create one.', {
        resource: 'folder',
      });
    case 'over-quota':
      return refuse('too_large', 'The mailbox is full: delete messages first.');
  }
}

function author(box: Mailbox): NamedAddress {
  const address = addressOf(box);
  return box.displayName === null ? { address } : { address, name: box.displayName };
}
