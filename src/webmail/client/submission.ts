import type { MailIdentity } from './jmap-types.ts';
import { MailError, methods, type SetProblem, throwRefusals } from './jmap.ts';
import { folderByRole } from './mail-state.ts';
import { t } from './translate.ts';

/** Time in which a sent message can be taken back. */
const UNDO_SECONDS = 10;
/** Time for which its notice offers that. */
export const UNDO_MS = UNDO_SECONDS * 1000 - 1000;

/** An email that is saved as a draft, and its way out. */
export interface OutgoingEmail {
  emailId: string;
  identity: MailIdentity;
  recipients: readonly string[];
  /** The time of sending; without one it leaves after {@link UNDO_SECONDS}. */
  at?: Date | undefined;
}

export function draftsFolder(): string {
  const folder = folderByRole('drafts');
  if (folder === undefined) throw new MailError(t('error.no-drafts'));
  return folder.id;
}

/** The id of an object that a /set created. */
export function createdId(result: Record<string, unknown> | undefined, key: string): string | undefined {
  const created = (result?.['created'] ?? {}) as Record<string, { id: string }>;
  return created[key]?.id;
}

/** Parameters that hold a message back. RFC 4865. */
function holdUntil(at: Date | undefined): Record<string, string> {
  if (at === undefined) return { HOLDFOR: String(UNDO_SECONDS) };
  return { HOLDUNTIL: at.toISOString().replace(/\.\d{3}Z$/, 'Z') };
}

/** Submits an email and files it in Sent; the id of its submission. */
export async function submitEmail({ emailId, identity, recipients, at }: OutgoingEmail): Promise<string> {
  const sent = folderByRole('sent')?.id;
  const envelope = {
    mailFrom: { email: identity.email, parameters: holdUntil(at) },
    rcptTo: [...new Set(recipients)].map((email) => ({ email, parameters: null })),
  };
  const filed = {
    'keywords/$draft': null,
    [`mailboxIds/${draftsFolder()}`]: null,
    ...(sent !== undefined && { [`mailboxIds/${sent}`]: true }),
  };
  const create = { send: { identityId: identity.id, emailId, envelope } };
  const [result] = await methods(['EmailSubmission/set', { create, onSuccessUpdateEmail: { '#send': filed } }]);
  const refusal = Object.values((result?.['notCreated'] ?? {}) as Record<string, SetProblem>)[0];
  if (refusal !== undefined) throw new MailError(t('error.not-sent', { why: refusal.description ?? refusal.type }));
  return createdId(result, 'send') ?? '';
}

/** Cancels a submission and makes its email a draft again. */
export async function cancelSubmission(id: string, emailId: string): Promise<void> {
  const [result] = await methods(['EmailSubmission/set', { update: { [id]: { undoStatus: 'canceled' } } }]);
  throwRefusals(result ?? {}, t('error.too-late'));
  const sent = folderByRole('sent')?.id;
  const back = {
    'keywords/$draft': true,
    [`mailboxIds/${draftsFolder()}`]: true,
    ...(sent !== undefined && { [`mailboxIds/${sent}`]: null }),
  };
  await methods(['Email/set', { update: { [emailId]: back } }]);
}
