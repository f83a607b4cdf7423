import { formatAddress } from '../../mail/message/address.ts';
import { rowId } from '../ids.ts';
import { notFound, refuse } from '../operations/refusal.ts';
import type { World } from '../operations/world.ts';
import { findAnswered } from './answered.ts';
import { attachedFiles } from './attached-files.ts';
import type { Filled } from './compose-email.ts';
import type { EmailRequest } from './email-request.ts';
import { unsubscribeKey, unsubscribeLink } from '../unsubscribe/link.ts';
import type { Sender } from './key-auth.ts';
import { findTemplate } from './template-commands.ts';
import { fillTemplate } from './template-text.ts';

/**
 * Puts in what a request only names: the texts of a template, files, a link to leave a list, what it answers. `reply` is
 * known already where the request follows from the message that it answers.
 */
export async function fillEmail(
  world: World,
  sender: Sender,
  request: EmailRequest,
  { trace, reply }: { trace: string; reply: Filled['reply'] },
): Promise<Filled> {
  const { template, attachments, inReplyTo: _message, threadId: _thread, ...rest } = request;
  const texts = template === undefined ? {} : await textsOf(world, sender, template);
  const files = await attachedFiles(world, sender, attachments);
  const unsubscribe = unsubscribeOf(world, sender, request, trace);
  const found = reply === undefined ? await findAnswered(world, sender, request) : { ...reply, email: null };
  const answered = found && { inReplyTo: found.inReplyTo, references: found.references };
  const subject = request.subject ?? '';
  return { ...rest, subject, ...texts, files, unsubscribe, reply: answered, answers: found?.email ?? null, template };
}

async function textsOf(
  { store }: World,
  { organization }: Sender,
  { id, version, variables }: NonNullable<EmailRequest['template']>,
): Promise<{ subject: string; text: string | undefined; html: string | undefined }> {
  const input = { organization, id: rowId('template', id) ?? 0, version: version ?? null };
  const found = await store.read(findTemplate, input);
  if (found === undefined) return notFound('template');
  const filled = fillTemplate(found, variables);
  if (filled.kind === 'filled') {
    const { subject, text, html } = filled;
    return { subject, text, html };
  }
  const issues = filled.names.map((name) => ({ path: `template.variables.${name}`, message: 'is missing' }));
  return refuse('invalid_arguments', `template.variables: the template also needs ${filled.names.join(', ')}.`, {
    issues,
  });
}

/** Whose link it is stands in it, so a message with one goes to one person. */
function unsubscribeOf(
  { baseUrl, secrets }: World,
  { organization }: Sender,
  { listUnsubscribe, to, cc, bcc }: EmailRequest,
  trace: string,
): string | undefined {
  if (listUnsubscribe !== true) return listUnsubscribe;
  const [only, ...more] = [...to, ...cc, ...bcc];
  if (only !== undefined && more.length === 0) {
    const subscription = { organization, recipient: formatAddress(only.address), trace };
    return unsubscribeLink(baseUrl(), unsubscribeKey(secrets), subscription);
  }
  const why = 'send to one recipient at a time';
  return refuse('invalid_arguments', `listUnsubscribe: ${why}.`, {
    issues: [{ path: 'listUnsubscribe', message: why }],
  });
}
