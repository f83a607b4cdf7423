import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { FILE_FIELDS } from '../../sending/email-request.ts';
import { UPLOAD_LINK_MS, signUploadTicket } from '../../sending/upload-link.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { isoOf } from '../../core/schemas.ts';

export const uploadAttachmentUrl = operation({
  name: 'upload_attachment_url',
  title: 'Get an upload URL',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'send',
  description:
    'Returns a URL to PUT one file to, valid for an hour and for exactly these bytes, which never pass through you. Then use uploadId in attachments; stored for a day, for this token.',
  hints: {},
  input: z.strictObject({
    filename: FILE_FIELDS.filename.unwrap().describe('Without a path'),
    contentType: FILE_FIELDS.contentType.unwrap().describe('MIME type'),
    sizeBytes: z.number().int().min(1).max(1_000_000_000).describe('Exact size'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')
      .describe('Lower-case hex'),
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
    const expires = clock() + UPLOAD_LINK_MS;
    const place = { organization, credential: caller.actor, name, filename, contentType, size, sha256, expires };
    await call.note(name, { sizeBytes: size, sha256 });
    const ticket = signUploadTicket(secrets.subkey('upload links'), place);
    return {
      uploadId: name,
      putUrl: `${baseUrl()}/api/email/upload-links?ticket=${ticket}`,
      expiresAt: isoOf(expires),
    };
  },
});
