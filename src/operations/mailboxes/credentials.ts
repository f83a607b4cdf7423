import { z } from 'zod';
import { generatePassword } from '../../../mail/login/password.ts';
import { markSeenByAgent, SEEN_BY_AGENT } from '../../../mail/store/hand.ts';
import { accountSalt, setPassword } from '../../../mail/store/credential.ts';
import { ownCredential } from '../../accounts/credential.ts';
import { connectionProfile } from '../../accounts/profile.ts';
import { publicId } from '../../ids.ts';
import { servicesOf } from '../../services/attachment-commands.ts';
import { noteShownSecret } from '../../sending/shown-secrets.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { oneMailbox } from '../about.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { isoOf, Line } from '../schemas.ts';
import { mailboxOf } from '../scope.ts';
import { Which } from './shown.ts';

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
    'Returns the whole connection profile of a mailbox (IMAP, SMTP, JMAP) with its password. Each reveal is written to the audit log first, with the reason if one is given.',
  hints: {},
  rule: oneMailbox,
  input: z.strictObject({ ...Which, reason: Line(1, 200).optional() }),
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
    await noteShownSecret(call, { kind: 'password', text: profile.imap.password });
    await noteShownSecret(call, { kind: 'password', text: profile.jmap.token });
    if (call.caller.kind === 'token') await call.store.write(markSeenByAgent, { account: mailbox.id });
    // The row is on disk before the secret leaves: a crash in between shows too much in the log, never too little.
    const audit = await call.note(mailboxId, { address: mailbox.address, ...(reason !== undefined && { reason }) });
    return { mailboxId, ...profile, auditId: publicId('audit', audit) };
  },
});

/** What a person chooses is guessed sooner than what is generated. */
const Password = z.string().min(12, 'a password needs at least 12 characters; leave it out to have one made').max(200);

export const rotateEmailCredentials = operation({
  name: 'rotate_email_credentials',
  title: 'Replace the password of a mailbox',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  secret: true,
  description:
    'Sets the given password or makes one; open sessions of the old one end at once, and attached services get the new one. A generated password is returned with reveal true only. App passwords stay.',
  hints: { destructive: true },
  rule: oneMailbox,
  input: z.strictObject({ ...Which, password: Password.optional(), reveal: z.boolean().default(false) }),
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
    // Who gives one knows it: remembered, any word could be made one that no mail may hold.
    if (reveal && given === undefined) await noteShownSecret(call, { kind: 'password', text: password });
    await replace(call, { account: id, password, revealed: reveal && given === undefined });
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
  { account, password, revealed }: { account: number; password: string; revealed: boolean },
): Promise<void> {
  const known = await call.store.read(accountSalt, { account });
  if (known === undefined) return notFound('mailbox');
  const made = await ownCredential(call.secrets, { password, ...known });
  if (made === undefined) {
    refuse('invalid_arguments', 'password: it cannot hold control characters.', {
      issues: [{ path: 'password', message: 'has characters that no password may have' }],
    });
  }
  const marks = call.caller.kind === 'token' ? [SEEN_BY_AGENT] : [];
  const credential = { ...made, scopes: [...made.scopes, ...marks] };
  const detail = { revealed };
  const done = await call.change(setPassword, { account, credential }, publicId('mailbox', account), detail);
  if (done.kind === 'missing') return notFound('mailbox');
  call.revoked(account, done.old);
}
