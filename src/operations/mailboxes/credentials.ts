import { z } from 'zod';
import { generatePassword } from '../../../mail/login/password.ts';
import { CHOSEN, markSeenByAgent, SEEN_BY_AGENT } from '../../../mail/store/actor.ts';
import { accountSalt, sealedPassword, setPassword } from '../../../mail/store/account/credential.ts';
import { ownCredential } from '../../accounts/new-credential.ts';
import { connectionProfile } from '../../accounts/profile.ts';
import { publicId } from '../../core/ids.ts';
import { servicesOf } from '../../services/attachment-commands.ts';
import { noteShownSecret } from '../../agents/shown-secrets.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { oneMailbox } from '../affected-mailboxes.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { isoOf, Line } from '../../core/schemas.ts';
import { mailboxOf } from '../scope.ts';
import { MailboxArguments } from './shown.ts';

const Server = z.object({
  host: z.string(),
  port: z.number(),
  secure: z.boolean(),
  username: z.string(),
  password: z.string(),
});

export const revealEmailCredentials = operation({
  name: 'reveal_email_credentials',
  title: 'Reveal the password of a mailbox',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  secret: true,
  description:
    'Returns the connection profile of a mailbox (IMAP, SMTP, JMAP) with its password, unless a person chose it. Each reveal is first written to the audit log, with the reason if given.',
  hints: {},
  rule: oneMailbox,
  input: z.strictObject({ ...MailboxArguments, reason: Line(1, 200).describe('For the audit log').optional() }),
  output: z.object({
    mailboxId: z.string(),
    address: z.string(),
    imap: Server,
    smtp: Server,
    jmap: z.object({ url: z.string(), token: z.string() }),
    auditId: z.string(),
  }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailboxId/credentials:reveal' },
  async run(call, { reason, ...which }) {
    const mailbox = await mailboxOf(call, which);
    const mailboxId = publicId('mailbox', mailbox.id);
    const profile = await connectionProfile(call, mailbox);
    if (profile === undefined) return notFound('mailbox');
    if ((await call.store.read(sealedPassword, { account: mailbox.id }))?.chosen === true) {
      const next = 'Use create_app_password, or rotate_email_credentials to generate another';
      refuse('conflict', `A person chose this password, so it is not shown. ${next}.`, { resource: 'password' });
    }
    await noteShownSecret(call, { kind: 'password', text: profile.imap.password });
    await noteShownSecret(call, { kind: 'password', text: profile.jmap.token });
    if (call.caller.kind === 'token') await call.store.write(markSeenByAgent, { account: mailbox.id });
    // The audit row is on disk before the secret is returned: a crash can log a reveal that did not happen, but never
    // miss one.
    const audit = await call.note(mailboxId, { address: mailbox.address, ...(reason !== undefined && { reason }) });
    return { mailboxId, ...profile, auditId: publicId('audit', audit) };
  },
});

/** Minimum length 12: a chosen password is easier to guess than a generated one. */
const Password = z
  .string()
  .min(12, 'must have at least 12 characters; omit it to generate one')
  .max(200)
  .describe('Default: generated');

export const rotateEmailCredentials = operation({
  name: 'rotate_email_credentials',
  title: 'Replace the password of a mailbox',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  secret: true,
  description:
    'Sets the given password or generates one; sessions with the old one end at once, and attached services get the new one. A generated password is returned only with reveal: true. App passwords stay.',
  hints: { destructive: true },
  rule: oneMailbox,
  input: z.strictObject({
    ...MailboxArguments,
    password: Password.optional(),
    reveal: z.boolean().default(false).describe('Return the password'),
  }),
  output: z.object({
    mailboxId: z.string(),
    rotatedAt: z.string(),
    generated: z.boolean(),
    reinjectedServiceIds: z.array(z.string()),
    password: z.string().optional(),
  }),
  rest: { method: 'POST', path: '/api/email/mailboxes/:mailboxId/credentials:rotate' },
  async run(call, { password: given, reveal, ...which }) {
    const { id } = await mailboxOf(call, which);
    const mailboxId = publicId('mailbox', id);
    const password = given ?? generatePassword();
    // Not recorded as a shown secret: any word could be set as a password and then block mail that contains it.
    if (reveal && given === undefined) await noteShownSecret(call, { kind: 'password', text: password });
    const generated = given === undefined;
    await replace(call, { account: id, password, generated, revealed: reveal && generated });
    const services = await call.store.read(servicesOf, { account: id });
    await rewriteEnvFiles(call, services);
    return {
      mailboxId,
      rotatedAt: isoOf(call.clock()),
      generated: given === undefined,
      reinjectedServiceIds: services.map((one) => publicId('service', one)),
      ...(reveal && given === undefined && { password }),
    };
  },
});

async function replace(
  call: Call,
  { account, password, ...how }: { account: number; password: string; generated: boolean; revealed: boolean },
): Promise<void> {
  const { generated, revealed } = how;
  const known = await call.store.read(accountSalt, { account });
  if (known === undefined) return notFound('mailbox');
  const isToken = call.caller.kind === 'token';
  const marks = isToken ? [SEEN_BY_AGENT] : generated ? [] : [CHOSEN];
  const made = await ownCredential(call.secrets, { password, ...known }, marks);
  if (made === undefined) {
    refuse('invalid_arguments', 'password must not contain control characters.', {
      issues: [{ path: 'password', message: 'has forbidden characters' }],
    });
  }
  const detail = { revealed };
  const done = await call.change(setPassword, { account, credential: made }, publicId('mailbox', account), detail);
  if (done.kind === 'missing') return notFound('mailbox');
  call.revoked(account, done.old);
}
