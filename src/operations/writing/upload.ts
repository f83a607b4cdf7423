import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { FILE_FIELDS } from '../../sending/email-request.ts';
import { LINK_MS, uploadTicket } from '../../sending/upload-link.ts';
import { operation } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { isoOf } from '../schemas.ts';

export const uploadAttachmentUrl = operation({
  name: 'upload_attachment_url',
  title: 'Get a link to upload a file',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'send',
  description:
    'Gives a link to PUT one file to, good for an hour and for these octets only: they never pass through you. Then name uploadId in attachments; it stays a day, for this token.',
  hints: {},
  input: z.strictObject({
    filename: FILE_FIELDS.filename.unwrap(),
    contentType: FILE_FIELDS.contentType.unwrap(),
    sizeBytes: z.number().int().min(1).max(1_000_000_000),
    sha256: z.string().regex(/^[0-9a-f]{64}$/, 'is 64 digits of hex, in lower case'),
  }),
  output: z.object({ uploadId: z.string(), putUrl: z.string(), expiresAt: z.string() }),
  rest: { method: 'POST', path: '/api/email/upload-links' },
  async run(call, { filename, contentType, sizeBytes: size, sha256 }) {
    const { settings, secrets, clock, baseUrl, tenant: organization, caller } = call;
    if (size > settings.maxMessageBytes) {
      refuse('too_large', `A file has at most ${settings.maxMessageBytes} octets here, as a message has.`, {
        maxBytes: settings.maxMessageBytes,
      });
    }
    const name = `up_${randomBytes(12).toString('hex')}`;
    const expires = clock() + LINK_MS;
    const place = { organization, credential: caller.actor, name, filename, contentType, size, sha256, expires };
    await call.note(name, { sizeBytes: size, sha256 });
    const ticket = uploadTicket(secrets.subkey('upload links'), place);
    return {
      uploadId: name,
      putUrl: `${baseUrl()}/api/email/upload-links?ticket=${ticket}`,
      expiresAt: isoOf(expires),
    };
  },
});
